// Package mcpserver offers tools, and documents as resources, over the Model Context
// Protocol, by the standard streams or streamable HTTP. Nothing is kept between calls: a
// search_id carries its query, so any process over the same collection resolves it.
//
// A profile chooses what is offered: the tools of the controller, unchanged; or the two
// tools that ChatGPT's connectors need; or the two of the BrowseComp-Plus benchmark.
package mcpserver
