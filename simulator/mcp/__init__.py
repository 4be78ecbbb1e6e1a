"""A Model Context Protocol server: tools, resources and prompts that let an assistant use a simulator.

Each tool is a call of `reseller_sim`'s client, so an assistant can do what its token allows below `/_sim` and nothing
else. The tools in `sandbox_tools` change something, the tools in `report_tools` read; `tools` bounds and marks their
answers. Only this package imports `mcp`.
"""
