"""A Model Context Protocol server: tools, resources and prompts that let an assistant use a simulator.

Each tool is a call of `reseller_sim`'s client, so an assistant can do what its token allows below `/_sim` and nothing
else. `sandbox_tools` has those that change something, `report_tools` those that read, and `answers` bounds and marks
what they return. Only this package imports `mcp`.
"""
