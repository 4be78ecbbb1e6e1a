"""The server: answers a host's requests on stdin and stdout, and turns errors into results."""

import re
from collections.abc import AsyncIterable, Mapping
from typing import Any, Final

import anyio
import mcp.types as types
from anyio.abc import ObjectSendStream
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from reseller_sim import NotRunning, Simulator, SimulatorError
from reseller_sim.asynchronous import in_thread
from simulator import __version__
from simulator.domain.model.likeness import nearest
from simulator.mcp import pages, report_tools, sandbox_tools
from simulator.mcp.tools import DATA, Tool, ToolAnswer, rendered

TOOLS: Final = tuple(
    one for module in (sandbox_tools, report_tools, pages) for one in vars(module).values() if isinstance(one, Tool)
)
DELETING: Final = ("reset_sandbox", "explore_command")
READ_ONLY: Final = "read_only_token"
SUBJECT: Final = re.compile(r"^(?:\w+\(\): |the request (?=must be ))")  # a function of the client, or none
ENDED: Final = "the simulator of this MCP server has ended: restart the MCP server in its host"
INSTRUCTIONS: Final = f"""reseller-sim simulates a reseller payments API with all of its state. It is at {{url}}.
Begin with create_sandbox, whose clock stands until advance_clock moves it. When a request is refused, call
list_requests or explain_signature; when a payment ends otherwise than expected, payment_story. audit_client says what a
client does wrong. read_docs has the documentation. {DATA}"""

Context = ServerRequestContext[Any, Any]
Page = types.PaginatedRequestParams | None


class Assistant:
    """The tools, resources and prompts for a simulator. Tools use `sandbox` when a call names no sandbox."""

    def __init__(self, simulator: Simulator, sandbox: str, *, may_run_commands: bool, is_own: bool) -> None:
        self._simulator = simulator
        self._sandbox = sandbox
        self._is_own = is_own
        self._tools = {one.name: one for one in TOOLS if may_run_commands or one is not sandbox_tools.explore_command}

    def server(self) -> Server[Any]:
        """Return an MCP server with these tools, resources and prompts."""
        return Server(
            "reseller-sim",
            version=__version__,
            instructions=INSTRUCTIONS.format(url=self._simulator.url),
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
            on_list_resources=_list_resources,
            on_read_resource=_read_resource,
            on_list_prompts=_list_prompts,
            on_get_prompt=_get_prompt,
        )

    async def _list_tools(self, context: Context, params: Page) -> types.ListToolsResult:
        tools = []
        for tool in (await self._permitted_tools()).values():
            hints = types.ToolAnnotations(read_only_hint=not tool.changes, destructive_hint=tool.name in DELETING)
            about, schema = tool.description, tool.input_schema
            tools.append(types.Tool(name=tool.name, description=about, input_schema=schema, annotations=hints))
        return types.ListToolsResult(tools=tools)

    async def _permitted_tools(self) -> Mapping[str, Tool]:
        """Return the tools that the token permits; all tools while no simulator answers."""
        try:
            await in_thread(self._simulator.control.ask, "POST", "/scenarios/check", {"text": ""})
        except (SimulatorError, NotRunning) as error:
            if getattr(error, "code", "") == READ_ONLY:
                return {name: tool for name, tool in self._tools.items() if not tool.changes}
        return self._tools

    async def _call_tool(self, context: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        try:
            return _result(await self._call(params.name, params.arguments or {}))
        except (SimulatorError, OSError, LookupError, ValueError, TypeError) as error:
            text = str(error.args[0] if isinstance(error, LookupError) else error)
            lines = SUBJECT.sub(f"{params.name}: ", text).split("\n")
            if self._is_own and isinstance(error, NotRunning):
                lines = [ENDED]
            if isinstance(error, SimulatorError) and error.code == "unknown_sandbox":
                lines += [f"sandbox: {sandbox['id']}" for sandbox in await in_thread(self._simulator.sandboxes)]
            return _result(ToolAnswer("The call failed.", lines=lines, is_error=True))

    async def _call(self, name: str, arguments: Mapping[str, Any]) -> ToolAnswer:
        tool = self._tools.get(name)
        if tool is None:
            near = nearest(name, self._tools)
            raise LookupError(f"there is no tool {name!r}{f'; did you mean {near}?' if near else ''}")
        if tool.changes and name not in await self._permitted_tools():
            raise ValueError(f"the token may only read: {name} needs a token of the role full")
        return await tool.call(self._simulator, self._sandbox, arguments)


def _result(answer: ToolAnswer) -> types.CallToolResult:
    shown, structured = rendered(answer)
    content = types.TextContent(text=shown)
    return types.CallToolResult(content=[content], structured_content=structured or None, is_error=answer.is_error)


async def _list_resources(context: Context, params: Page) -> types.ListResourcesResult:
    found = await in_thread(pages.resources)
    return types.ListResourcesResult(resources=[resource for resource, _ in found.values()])


async def _read_resource(context: Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
    found = (await in_thread(pages.resources)).get(params.uri)
    if found is None:
        raise MCPError(code=types.INVALID_PARAMS, message=f"there is no resource {params.uri!r}")
    resource, path = found
    text = await in_thread(path.read_text, "utf-8")
    contents = types.TextResourceContents(uri=params.uri, mime_type=resource.mime_type, text=text)
    return types.ReadResourceResult(contents=[contents])


async def _list_prompts(context: Context, params: Page) -> types.ListPromptsResult:
    return types.ListPromptsResult(prompts=[pages.prompt(name) for name in pages.PROMPTS])


async def _get_prompt(context: Context, params: types.GetPromptRequestParams) -> types.GetPromptResult:
    if params.name not in pages.PROMPTS:
        raise MCPError(code=types.INVALID_PARAMS, message=f"there is no prompt {params.name!r}")
    text = types.TextContent(text=pages.prompt_text(params.name, params.arguments or {}))
    return types.GetPromptResult(messages=[types.PromptMessage(role="user", content=text)])


async def serve(assistant: Assistant) -> None:
    """Answer requests on stdin and stdout until the host closes stdin."""
    server = assistant.server()
    messages, requests = anyio.create_memory_object_stream[SessionMessage | Exception]()
    async with stdio_server() as (lines, responses), anyio.create_task_group() as tasks:
        tasks.start_soon(_pass_messages, lines, messages, responses)
        await server.run(requests, responses, server.create_initialization_options())


async def _pass_messages(
    lines: AsyncIterable[SessionMessage | Exception], messages: ObjectSendStream[Any], responses: Any
) -> None:
    """Pass the messages of a host on to the server. Answer lines that are no messages, which the library drops."""
    async with messages:
        async for line in lines:
            if not isinstance(line, ValidationError):
                await messages.send(line)
            elif (refusal := _refusal(line)) is not None:
                await responses.send(SessionMessage(types.JSONRPCError(jsonrpc="2.0", id=None, error=refusal)))


def _refusal(wrong: ValidationError) -> types.ErrorData | None:
    """Return the error of JSON-RPC for a line that is no message; None for an empty line."""
    problem = wrong.errors()[0]
    if problem["type"] != "json_invalid":
        return types.ErrorData(code=types.INVALID_REQUEST, message="the line is not a message of JSON-RPC 2.0")
    if not str(problem["input"]).strip():
        return None
    return types.ErrorData(code=types.PARSE_ERROR, message="the line is not JSON")
