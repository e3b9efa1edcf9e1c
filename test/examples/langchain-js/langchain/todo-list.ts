// From here: added, since the published example leaves it out.
import { HumanMessage } from "@langchain/core/messages";
// To here.

import { todoListMiddleware, createAgent } from 'langchain';

const agent = createAgent({
  model: "openai:gpt-4o",
  middleware: [todoListMiddleware()],
});

// Agent now has access to write_todos tool and todo state tracking
const result = await agent.invoke({
  messages: [new HumanMessage("Help me refactor my codebase")]
});

console.log(result.todos); // Array of todo items with status tracking
