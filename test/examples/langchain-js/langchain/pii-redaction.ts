// From here: added, since the published example leaves it out.
import { HumanMessage } from "@langchain/core/messages";
import { ChatOpenAI } from "@langchain/openai";
// To here.

import { piiRedactionMiddleware } from "langchain";
import { createAgent } from "langchain";
import { tool } from "@langchain/core/tools";
import { z } from "zod/v3";

const PII_RULES = {
  ssn: /\b\d{3}-?\d{2}-?\d{4}\b/g,
  email: /\b[A-Za-z0-9._%+-]+@[A-Za-z0-9.-]+\.[A-Za-z]{2,}\b/g,
  phone: /\b\d{3}[-.]?\d{3}[-.]?\d{4}\b/g,
};

const lookupUser = tool(async ({ ssn }) => {
  // Receives original value: "123-45-6789"
  return { name: "John Doe", account: "active" };
}, {
  name: "lookup_user",
  description: "Look up user by SSN",
  schema: z.object({ ssn: z.string() })
});

const agent = createAgent({
  model: new ChatOpenAI({ model: "gpt-4" }),
  tools: [lookupUser],
  middleware: [piiRedactionMiddleware({ rules: PII_RULES })]
});

const result = await agent.invoke({
  messages: [new HumanMessage("Look up SSN 123-45-6789")]
});
// Model request: "Look up SSN [REDACTED_SSN_abc123]"
// Model response: tool_call({ "ssn": "[REDACTED_SSN_abc123]" })
// Tool receives: { "ssn": "123-45-6789" }
