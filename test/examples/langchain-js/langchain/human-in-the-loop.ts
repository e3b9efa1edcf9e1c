// From here: added, since the published example leaves it out.
import { HumanMessage } from "@langchain/core/messages";
import { MemorySaver } from "@langchain/langgraph";
import { readFileTool, writeFileTool } from "../../langchain-stage.ts";

const config = { configurable: { thread_id: "1" } };
// To here.

import { humanInTheLoopMiddleware } from "langchain";
import { createAgent } from "langchain";

const hitlMiddleware = humanInTheLoopMiddleware({
  interruptOn: {
    // Interrupt write_file tool and allow edits or approvals
    "write_file": {
      allowedDecisions: ["approve", "edit"],
      description: "⚠️ File write operation requires approval"
    },
    // Auto-approve read_file tool
    "read_file": false
  }
});

const agent = createAgent({
  model: "openai:gpt-4",
  tools: [writeFileTool, readFileTool],
  middleware: [hitlMiddleware], // Changed from: middleware: [hitlMiddleware]
  checkpointer: new MemorySaver(), // Added.
});

import { type HITLRequest, type HITLResponse, type Interrupt } from "langchain";
import { Command } from "@langchain/langgraph";

// Initial agent invocation
const result = await agent.invoke({
  messages: [new HumanMessage("Write 'Hello' to output.txt")]
}, config);

// Check if agent is paused for approval
if (result.__interrupt__) {
  const interruptRequest = result.__interrupt__?.[0] as Interrupt<HITLRequest>;

  // Show tool call details to user
  console.log("Actions:", interruptRequest.value.actionRequests);
  console.log("Review configs:", interruptRequest.value.reviewConfigs);

  // Resume with approval
  const resume: HITLResponse = {
    decisions: [{ type: "approve" }]
  };
  await agent.invoke(
    new Command({ resume }),
    config
  );
}

// From here: added, for who loads it.
const { values: outcome } = await agent.getState(config);
export { outcome as result };
// To here.
