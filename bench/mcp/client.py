"""client.py PROGRAM INDEX URL: lists and calls the tools with the Python SDK over both transports."""

import asyncio
import sys

import mcp
from mcp import ClientSession, StdioServerParameters
from mcp.client import stdio, streamable_http

http_client = getattr(streamable_http, "streamable_http_client", None) or streamable_http.streamablehttp_client


async def converse(name, streams):
    async with ClientSession(streams[0], streams[1]) as session:
        hello = await session.initialize()
        version = getattr(hello, "protocol_version", None) or getattr(hello, "protocolVersion", None)
        tools = (await session.list_tools()).tools
        found = await session.call_tool("search", {"reason": "check", "query": "operating systems"})
        text = found.content[0].text
        docid = text.split("docid=")[1].split()[0]
        page = await session.call_tool("read_document", {"reason": "check", "docid": docid, "limit": 2})
        refused = await session.call_tool("read_document", {"reason": "check", "docid": "no such"})
        failed = getattr(refused, "is_error", None) or getattr(refused, "isError", None)
        templates = await session.list_resource_templates()
        templates = getattr(templates, "resource_templates", None) or templates.resourceTemplates
        template = getattr(templates[0], "uri_template", None) or templates[0].uriTemplate
        resource = await session.read_resource(template.replace("{+docid}", docid) + "#L1-L1")
        assert failed and page.content[0].text.startswith("docid=" + docid) and len(resource.contents) == 1
        print(f"{name}: revision {version}, tools {sorted(t.name for t in tools)}, {text.splitlines()[0]}, {resource.contents[0].uri}")


async def main():
    program, index, url = sys.argv[1:]
    async with stdio.stdio_client(StdioServerParameters(command=program, args=["mcp", "--index", index])) as streams:
        await converse("stdio", streams)
    async with http_client(url) as streams:
        await converse("http", streams)


asyncio.run(main())
