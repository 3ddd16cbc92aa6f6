package gate

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"interlock/internal/gate/wire"
	"interlock/internal/strict"
)

const (
	sessionHeader = "Mcp-Session-Id"
	versionHeader = "Mcp-Protocol-Version"
	methodHeader  = "Mcp-Method"
	nameHeader    = "Mcp-Name"
	paramPrefix   = "Mcp-Param-"
)

// codeHeaderMismatch is the protocol's error for a header that is not as the
// body says.
const codeHeaderMismatch = -32020

func mismatch(f wire.Frame, header string) *wire.Refusal {
	return &wire.Refusal{Code: codeHeaderMismatch, ID: f.ID, Msg: fmt.Sprintf("header mismatch: %s is missing, doubled or not as the body says", header)}
}

// headersAgree holds the headers of a request to a server against its body.
func (g *Gate) headersAgree(ctx context.Context, server string, h http.Header, f wire.Frame) *wire.Refusal {
	if refusal := routingAgrees(h, f); refusal != nil {
		return refusal
	}
	return g.paramsAgree(ctx, server, h, f)
}

// routingAgrees holds the routing headers of the stateless protocol against the
// body: what a middlebox routes by must be what is judged (C36). That protocol
// wants them; in the older ones they are checked where they stand.
func routingAgrees(h http.Header, f wire.Frame) *wire.Refusal {
	method, name, version := h.Get(methodHeader), h.Get(nameHeader), h.Get(versionHeader)
	wanted := version >= stateless
	if f.Method == "" {
		return nil // an answer
	}
	for _, header := range []string{versionHeader, methodHeader, nameHeader} {
		if len(h[header]) > 1 {
			return mismatch(f, header) // which one is read differs from server to server
		}
	}
	said, ok := wire.Text(wire.Get(wire.Get(f.Params, "_meta"), metaVersion))
	switch {
	case ok && said >= stateless && said != version, ok && wanted && said != version:
		return mismatch(f, versionHeader)
	case method == "" && name == "" && !wanted:
		return nil
	case (method != "" || wanted) && method != f.Method:
		return mismatch(f, methodHeader)
	}
	key := map[string]string{"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}[f.Method]
	if want, _ := wire.Text(wire.Get(f.Params, key)); name != "" || (wanted && key != "") {
		if plain, ok := plainHeader(name); !ok || plain != want {
			return mismatch(f, nameHeader)
		}
	}
	return nil
}

// plainHeader decodes the form in which a header carries any text.
func plainHeader(v string) (string, bool) {
	enc, ok := strings.CutPrefix(v, "=?base64?")
	if !ok {
		return v, true
	}
	if enc, ok = strings.CutSuffix(enc, "?="); !ok {
		return v, true
	}
	b, err := base64.StdEncoding.DecodeString(enc)
	return string(b), err == nil
}

// paramsAgree holds the headers that mirror arguments, where the tool's schema
// says x-mcp-header, against the body: as for the routing headers, whoever
// decides by them must have decided on what runs. Only the stateless protocol
// has them.
func (g *Gate) paramsAgree(ctx context.Context, server string, h http.Header, f wire.Frame) *wire.Refusal {
	if f.Method != "tools/call" || h.Get(versionHeader) < stateless {
		return nil
	}
	name, _ := wire.Text(wire.Get(f.Params, "name"))
	if g.planTool(name) != nil {
		return nil // ours mirror nothing
	}
	t := g.lists.snapshot(server).Tool(name)
	if t == nil {
		if err := g.ensure(ctx, server); err != nil {
			g.o.Log.WarnContext(ctx, "the tools of a server are not known", "server", server, "error", err)
		}
		if t = g.lists.snapshot(server).Tool(name); t == nil {
			return nil // such a call is refused: the tool is not listed
		}
	}
	definition, err := strict.JSON("tool", 1, []byte(t.Definition))
	if err != nil {
		return nil // never approved
	}
	var arguments *strict.Node
	if raw := wire.Get(f.Params, "arguments"); raw != nil {
		if arguments, err = strict.JSON("arguments", 1, raw); err != nil {
			return nil // refused with its own reason
		}
	}
	if header := mirrored(h, definition.Field("inputSchema"), arguments); header != "" {
		return mismatch(f, header)
	}
	return nil
}

// mirrored walks the properties of a schema and returns the first header that
// is not as its argument, "" if all are.
func mirrored(h http.Header, schema, arguments *strict.Node) string {
	if schema == nil || schema.Kind != strict.Map {
		return ""
	}
	properties := schema.Field("properties")
	if properties == nil || properties.Kind != strict.Map {
		return ""
	}
	for i := range properties.Fields {
		p := &properties.Fields[i]
		if p.Value.Kind != strict.Map {
			continue
		}
		var argument *strict.Node
		if arguments != nil && arguments.Kind == strict.Map {
			argument = arguments.Field(p.Key)
		}
		if name := p.Value.Field("x-mcp-header"); name != nil && name.Kind == strict.String && name.Text != "" {
			if header := paramPrefix + name.Text; !mirrors(h.Values(header), argument) {
				return header
			}
		}
		if header := mirrored(h, &p.Value, argument); header != "" {
			return header
		}
	}
	return ""
}

// mirrors reports whether a header has the value of an argument, and is absent
// where the argument is.
func mirrors(values []string, argument *strict.Node) bool {
	if argument == nil || argument.Kind == strict.Null {
		return len(values) == 0 || slices.Equal(values, []string{""})
	}
	if len(values) != 1 {
		return false
	}
	text, ok := plainHeader(values[0])
	if !ok {
		return false
	}
	switch argument.Kind {
	case strict.String, strict.Bool:
		return text == argument.Text
	case strict.Number:
		is, one := strict.Decimal(argument.Text)
		said, two := strict.Decimal(text)
		return one && two && is == said && !strings.ContainsAny(is, ".eE") // only whole numbers may be mirrored
	default:
		return false
	}
}

// metaSays wants the protocol version in the body of each stateless request,
// as the protocol has it: the header alone reaches no server behind stdio.
func metaSays(h http.Header, f wire.Frame) *wire.Refusal {
	if h.Get(versionHeader) < stateless || f.Kind != wire.Request {
		return nil
	}
	if said, ok := wire.Text(wire.Get(wire.Get(f.Params, "_meta"), metaVersion)); !ok || said == "" {
		return &wire.Refusal{Code: wire.CodeInvalidParams, ID: f.ID, Msg: "missing or invalid _meta field " + metaVersion}
	}
	return nil
}
