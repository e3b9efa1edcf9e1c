import { ChatOpenAI } from "@langchain/openai"; // Added.
import { createDeepAgent } from "deepagents";

const agent = createDeepAgent({ model: new ChatOpenAI({ model: "gpt-5" }) }); // Changed from: const agent = createDeepAgent();

const result = await agent.invoke({
  messages: [
    {
      role: "user",
      content: "Research LangGraph and write a summary in summary.md",
    },
  ],
});
