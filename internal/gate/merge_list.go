package gate

import (
	"bytes"
	"cmp"
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	"interlock/internal/gate/grant"
	"interlock/internal/gate/wire"
)

// A said is what one server said to a request that went to several.
type said struct {
	server string
	f      wire.Frame // the zero frame if there is none
	header http.Header
}

// id gives an id for a request of the merge's own.
func (m *merge) id() []byte { return wire.Quote("merge:" + strconv.FormatInt(m.next.Add(1), 10)) }

// ask sends a request, as frame makes it, to every server of a session at once,
// and gives the answers in the order of the configuration. A server that does
// not answer in time keeps the others waiting no longer. What servers tell
// meanwhile goes to the stream the client listens on.
func (m *merge) ask(e *errand, frame func(server string) []byte) []said {
	ctx, cancel := context.WithTimeout(e.r.Context(), askTimeout)
	defer cancel()
	servers := m.reached(e.s)
	out := make([]said, len(servers))
	var all sync.WaitGroup
	for i, server := range servers {
		all.Go(func() { out[i] = m.askOne(ctx, e, server, frame(server)) })
	}
	all.Wait()
	return out
}

func (m *merge) askOne(ctx context.Context, e *errand, server string, raw []byte) said {
	a := said{server: server}
	key := wire.Key(wire.Get(raw, "id"))
	take := func(data []byte) {
		f, refusal := wire.ParseServer(data)
		switch {
		case refusal != nil:
		case f.Kind == wire.Response && f.Key == key:
			a.f = f
		case f.Kind != wire.Response:
			e.s.out.tell(taggedFrame(server, data))
		}
	}
	t := newRelay(func(int, http.Header) {}, func(ev wire.Event) error { take(ev.Data); return nil })
	m.guarded(server, func() { m.send(ctx, e, server, "", raw, t) })
	if !t.stream {
		take(t.buf)
	}
	if a.header = t.header; a.f.Kind != wire.Response {
		m.g.o.Log.WarnContext(ctx, "a server of several has not answered", "server", server, "status", t.status)
	}
	return a
}

// lists says where the items of each list stand and what tells them apart.
var lists = map[string]struct{ items, key string }{
	"tools/list":               {"tools", "name"},
	"prompts/list":             {"prompts", "name"},
	"resources/list":           {"resources", "uri"},
	"resources/templates/list": {"resourceTemplates", "uriTemplate"},
}

// list answers a request for a list with those of all servers in one page.
func (m *merge) list(e *errand) {
	if cursor := wire.Get(e.f.Params, "cursor"); cursor != nil && string(cursor) != "null" {
		m.refuse(e, wire.CodeInvalidParams, "the list has one page: no cursor is known")
		return
	}
	defer e.s.opens(e.f.Key, everywhere)()
	var items [][]byte
	pages := m.collect(e, e.f.Method, func(item []byte) { items = append(items, item) })
	var first *said
	var missing [][]byte
	for i := range pages {
		switch {
		case pages[i].f.Result != nil && first == nil:
			first = &pages[i]
		case pages[i].f.Result == nil && string(wire.Get(pages[i].f.Error, "code")) != methodNotFound:
			missing = append(missing, wire.Quote(pages[i].server))
		}
	}
	if first == nil {
		for _, p := range pages {
			if p.f.Error != nil {
				m.reply(e, p.f.Raw)
				return
			}
		}
		m.refuse(e, wire.CodeUpstream, "no server has answered")
		return
	}
	result, err := wire.Set(first.f.Result, lists[e.f.Method].items, list(items))
	if err == nil {
		result, err = wire.Drop(result, "nextCursor")
	}
	if err == nil && missing != nil { // said, not left out in silence
		meta := cmp.Or(string(wire.Get(result, "_meta")), "{}")
		var with []byte
		if with, err = wire.Set([]byte(meta), "interlock/missing", list(missing)); err == nil {
			result, err = wire.Set(result, "_meta", with)
		}
	}
	if err != nil {
		m.refuse(e, wire.CodeUpstream, "a server's list cannot be read")
		return
	}
	writeFrame(e.w, http.StatusOK, wire.Reply(e.f.ID, result))
}

// collect asks every server for a list, page by page, gives each item under the
// name that clients know, and notes whose resources are whose. It returns the
// last page of each, or the error.
func (m *merge) collect(e *errand, method string, item func([]byte)) []said {
	ctx, cancel := context.WithTimeout(e.r.Context(), askTimeout)
	defer cancel()
	servers := m.reached(e.s)
	pages := make([]said, len(servers))
	found := make([][][]byte, len(servers))
	var all sync.WaitGroup
	for i, server := range servers {
		all.Go(func() { pages[i], found[i] = m.pages(ctx, e, server, method) })
	}
	all.Wait()
	ours := false // the gate's own tools have been listed
	for i, server := range servers {
		some := false
		for _, raw := range found[i] {
			own, _ := wire.Text(wire.Get(raw, lists[method].key))
			switch method {
			case "tools/list":
				if m.g.planTool(own) != nil {
					if some = true; ours {
						continue
					}
				}
				raw = renamed(raw, own, m.exposed(server, own))
			case "prompts/list":
				raw = renamed(raw, own, server+between+own)
			default:
				e.s.has(own, server)
			}
			if item != nil {
				item(raw)
			}
		}
		ours = ours || some
	}
	return pages
}

func renamed(raw []byte, from, to string) []byte {
	if from == to {
		return raw
	}
	if with, err := wire.Set(raw, "name", wire.Quote(to)); err == nil {
		return with
	}
	return raw
}

// pages reads a list of one server to its end.
func (m *merge) pages(ctx context.Context, e *errand, server, method string) (last said, items [][]byte) {
	var cursor []byte
	for range maxPages {
		params, err := pageParams(e.f.Params, cursor)
		if err != nil {
			return said{server: server}, nil
		}
		last = m.askOne(ctx, e, server, wire.NewRequest(m.id(), method, params))
		if last.f.Result == nil {
			return last, nil
		}
		some, err := wire.Elements(wire.Get(last.f.Result, lists[method].items))
		if err != nil {
			return said{server: server}, nil
		}
		items = append(items, some...)
		if cursor = wire.Get(last.f.Result, "nextCursor"); cursor == nil || string(cursor) == "null" || string(cursor) == `""` {
			return last, items
		}
	}
	m.g.o.Log.WarnContext(ctx, "a list does not end", "server", server, "method", method)
	return said{server: server}, nil
}

// pageParams keeps of a request's parameters what a list takes: the protocol's
// own fields and the cursor.
func pageParams(of, cursor []byte) ([]byte, error) {
	fields := []wire.Field{}
	if meta := wire.Get(of, "_meta"); meta != nil {
		without, err := wire.Drop(meta, "progressToken") // of one request, not of several
		if err != nil {
			return nil, err
		}
		fields = append(fields, wire.Field{Key: "_meta", Value: without})
	}
	if cursor != nil {
		fields = append(fields, wire.Field{Key: "cursor", Value: cursor})
	}
	return wire.Object(fields...), nil
}

// initialize begins a session with every server. One that cannot be reached is
// missing from the session, and the client is told so.
func (m *merge) initialize(e *errand) {
	answers := m.ask(e, func(string) []byte { return e.f.Raw })
	legs := map[string]leg{}
	for _, a := range answers {
		if a.f.Result != nil {
			version, _ := wire.Text(wire.Get(a.f.Result, "protocolVersion"))
			legs[a.server] = leg{session: a.header.Get(sessionHeader), version: version}
		}
	}
	result, ok := m.introduction(e, answers)
	if !ok {
		return
	}
	id := grant.NewID("m-")
	e.s.legs = legs
	m.mu.Lock()
	m.sessions[id] = e.s
	m.mu.Unlock()
	e.w.Header().Set(sessionHeader, id)
	writeFrame(e.w, http.StatusOK, wire.Reply(e.f.ID, result))
}

func (m *merge) discover(e *errand) {
	answers := m.ask(e, func(string) []byte { return e.f.Raw })
	if result, ok := m.introduction(e, answers); ok {
		writeFrame(e.w, http.StatusOK, wire.Reply(e.f.ID, result))
	}
}

// introduction makes one introduction of several: the oldest protocol, what any
// server can do, all instructions. It has answered the client if it is not ok.
func (m *merge) introduction(e *errand, answers []said) (result []byte, ok bool) {
	var texts []string
	for _, a := range answers {
		if a.f.Result == nil {
			texts = append(texts, "The server "+a.server+" could not be reached: its tools are missing.")
			continue
		}
		if text, _ := wire.Text(wire.Get(a.f.Result, "instructions")); text != "" {
			texts = append(texts, "Instructions of the server "+a.server+":\n"+text)
		}
		if result == nil {
			result = a.f.Result
			continue
		}
		result = older(result, a.f.Result)
		result = united(result, a.f.Result, "capabilities")
	}
	if result == nil {
		for _, a := range answers {
			if a.f.Error != nil {
				m.reply(e, a.f.Raw)
				return nil, false
			}
		}
		m.refuse(e, wire.CodeUpstream, "no server can be reached")
		return nil, false
	}
	set := func(key string, value []byte) {
		if with, err := wire.Set(result, key, value); err == nil {
			result = with
		}
	}
	set("serverInfo", wire.Object(wire.Field{Key: "name", Value: wire.Quote("interlock")}, wire.Field{Key: "version", Value: wire.Quote(strings.Join(m.names, " "))}))
	if texts != nil {
		set("instructions", wire.Quote(strings.Join(texts, "\n\n")))
	}
	return result, true
}

// older keeps the protocol that all servers speak: the oldest version agreed on,
// of lists of versions what stands in both.
func older(a, b []byte) []byte {
	one, _ := wire.Text(wire.Get(a, "protocolVersion"))
	two, _ := wire.Text(wire.Get(b, "protocolVersion"))
	if two != "" && two < one {
		if with, err := wire.Set(a, "protocolVersion", wire.Quote(two)); err == nil {
			a = with
		}
	}
	mine, err := wire.Elements(wire.Get(a, "supportedVersions"))
	if err != nil {
		return a
	}
	others, err := wire.Elements(wire.Get(b, "supportedVersions"))
	if err != nil {
		return a
	}
	both := slices.DeleteFunc(mine, func(v []byte) bool {
		return !slices.ContainsFunc(others, func(o []byte) bool { return bytes.Equal(o, v) })
	})
	if with, err := wire.Set(a, "supportedVersions", list(both)); err == nil {
		a = with
	}
	return a
}

// united is a with the object at key holding what b's holds as well: of two
// values that are objects both, of others true before anything else.
func united(a, b []byte, key string) []byte {
	mine, theirs := wire.Get(a, key), wire.Get(b, key)
	switch {
	case theirs == nil:
		return a
	case mine == nil || string(theirs) == "true":
		mine = theirs
	case mine[0] == '{' && theirs[0] == '{':
		fields, err := wire.Fields(theirs)
		if err != nil {
			return a
		}
		for _, f := range fields {
			mine = united(mine, theirs, f.Key)
		}
	}
	if with, err := wire.Set(a, key, mine); err == nil {
		return with
	}
	return a
}
