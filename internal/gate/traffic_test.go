package gate_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"interlock/internal/gate"
	"interlock/internal/gate/grant"
)

// chatty is a server that uses everything a server may send.
func chatty() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "chatty", Version: "1"}, &mcp.ServerOptions{
		SubscribeHandler:   func(context.Context, *mcp.SubscribeRequest) error { return nil },
		UnsubscribeHandler: func(context.Context, *mcp.UnsubscribeRequest) error { return nil },
	})
	s.AddResource(&mcp.Resource{URI: "x://r", Name: "r"}, func(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: "x://r", Text: "hello"}}}, nil
	})
	mcp.AddTool(s, &mcp.Tool{Name: "sensor.read"}, func(ctx context.Context, req *mcp.CallToolRequest, _ args) (*mcp.CallToolResult, any, error) {
		for i := range 3 {
			_ = req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: req.Params.GetProgressToken(), Progress: float64(i)})
		}
		_ = req.Session.Log(ctx, &mcp.LoggingMessageParams{Level: "error", Data: "log"}) //nolint:staticcheck // older protocols have it
		_ = s.ResourceUpdated(ctx, &mcp.ResourceUpdatedNotificationParams{URI: "x://r"})
		return nil, map[string]int{"v": 1}, nil
	})
	mcp.AddTool(s, &mcp.Tool{Name: "balance.weigh"}, func(ctx context.Context, req *mcp.CallToolRequest, _ args) (*mcp.CallToolResult, any, error) {
		_, err := req.Session.Elicit(ctx, &mcp.ElicitParams{Message: "sure?", RequestedSchema: map[string]any{"type": "object", "properties": map[string]any{}}})
		if err != nil {
			return nil, nil, fmt.Errorf("elicitation: %w", err)
		}
		_, err = req.Session.CreateMessage(ctx, &mcp.CreateMessageParams{Messages: []*mcp.SamplingMessage{}, MaxTokens: 1}) //nolint:staticcheck // older protocols have it
		return nil, nil, err
	})
	return s
}

// TestC24_WhatTheServerSaysArrives covers R36.
func TestC24_WhatTheServerSaysArrives(t *testing.T) {
	t.Parallel()
	for _, transport := range []string{"stdio", "http"} {
		t.Run(transport, func(t *testing.T) {
			t.Parallel()
			var progress, logs, updates atomic.Int32
			o := &mcp.ClientOptions{
				ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
					if r.Params.ProgressToken == "tok" && r.Params.Progress == float64(progress.Load()) {
						progress.Add(1)
					}
				},
				LoggingMessageHandler:  func(context.Context, *mcp.LoggingMessageRequest) { logs.Add(1) }, //nolint:staticcheck // older protocols have it
				ResourceUpdatedHandler: func(context.Context, *mcp.ResourceUpdatedNotificationRequest) { updates.Add(1) },
			}
			r := newRig(t)
			var cs *mcp.ClientSession
			if transport == "stdio" {
				cs = r.stdioVersion(chatty(), o, "2025-11-25")
			} else {
				cs = r.httpVersion(r.front(labHTTP(t, chatty(), nil)), o, "2025-11-25")
			}
			if err := cs.SetLoggingLevel(t.Context(), &mcp.SetLoggingLevelParams{Level: "debug"}); err != nil { //nolint:staticcheck // older protocols have it
				t.Fatal(err)
			}
			if err := cs.Subscribe(t.Context(), &mcp.SubscribeParams{URI: "x://r"}); err != nil {
				t.Fatal(err)
			}
			p := &mcp.CallToolParams{Name: "sensor.read", Arguments: args{"id": "x"}}
			p.SetProgressToken("tok")
			if _, err := cs.CallTool(t.Context(), p); err != nil {
				t.Fatal(err)
			}
			waitFor(t, func() bool { return progress.Load() == 3 && logs.Load() == 1 && updates.Load() == 1 })
			res, err := cs.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "x://r"})
			if err != nil || res.Contents[0].Text != "hello" {
				t.Errorf("%v %v", res, err)
			}
		})
	}
}

// TestC24_QuestionsAreDecidedByPolicy covers R23.
func TestC24_QuestionsAreDecidedByPolicy(t *testing.T) {
	t.Parallel()
	for _, pass := range []bool{false, true} {
		for _, transport := range []string{"stdio", "http"} {
			t.Run(fmt.Sprintf("%s, passed %v", transport, pass), func(t *testing.T) {
				t.Parallel()
				var asked atomic.Int32
				o := &mcp.ClientOptions{
					ElicitationHandler: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
						asked.Add(1)
						return &mcp.ElicitResult{Action: "accept", Content: map[string]any{}}, nil
					},
					CreateMessageHandler: func(context.Context, *mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) { //nolint:staticcheck // older protocols have it
						asked.Add(1)
						return &mcp.CreateMessageResult{Content: &mcp.TextContent{Text: "x"}, Model: "m", Role: "assistant"}, nil //nolint:staticcheck // older protocols have it
					},
				}
				r := newRig(t, func(o *gate.Options) { o.Policy.Elicitation, o.Policy.Sampling = pass, pass })
				var cs *mcp.ClientSession
				if transport == "stdio" {
					cs = r.stdioVersion(chatty(), o, "2025-11-25")
				} else {
					cs = r.httpVersion(r.front(labHTTP(t, chatty(), nil)), o, "2025-11-25")
				}
				res := call(t, cs, "balance.weigh", args{"device": "bal1"})
				want, failed := int32(2), false
				if !pass {
					want, failed = 0, true
				}
				if asked.Load() != want || res.IsError != failed {
					t.Errorf("asked %d times, want %d; %s", asked.Load(), want, text(res))
				}
				if !pass && r.alerts.kinds()[grant.KindRefused] != 1 {
					t.Errorf("alerts: %v", r.alerts.kinds())
				}
			})
		}
	}
}

// TestC23_ListChangedOnce covers R34: one notification, after the pin check,
// and no word of a tool that waits for approval.
func TestC23_ListChangedOnce(t *testing.T) {
	t.Parallel()
	for _, transport := range []string{"stdio", "http"} {
		t.Run(transport, func(t *testing.T) {
			t.Parallel()
			var changed atomic.Int32
			o := &mcp.ClientOptions{ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) { changed.Add(1) }}
			r := newRig(t)
			var cs *mcp.ClientSession
			if transport == "stdio" {
				cs = r.stdioVersion(r.lab.Server, o, "2025-11-25")
			} else {
				cs = r.httpVersion(r.front(labHTTP(t, r.lab.Server, nil)), o, "2025-11-25")
			}
			names := func() string {
				l, err := cs.ListTools(t.Context(), nil)
				if err != nil {
					t.Fatal(err)
				}
				var b strings.Builder
				for _, tool := range l.Tools {
					b.WriteString(tool.Name + " ")
				}
				return b.String()
			}
			if !strings.Contains(names(), "hotplate.set") {
				t.Fatal("hotplate.set is not listed")
			}
			mcp.AddTool(r.lab.Server, &mcp.Tool{Name: "laser.fire"}, func(context.Context, *mcp.CallToolRequest, args) (*mcp.CallToolResult, any, error) {
				return nil, nil, nil
			})
			waitFor(t, func() bool { return r.alerts.kinds()[grant.KindPins] == 1 })
			if got := names(); strings.Contains(got, "laser.fire") {
				t.Errorf("a tool nobody approved is listed: %s", got)
			}
			if got := code(t, call(t, cs, "laser.fire", args{})); got != "quarantined" {
				t.Errorf("a tool nobody approved is called: %q", got)
			}
			if changed.Load() != 0 {
				t.Errorf("%d notifications for a quarantined tool", changed.Load())
			}
			r.lab.RugPull() // takes hotplate.set out of the list
			waitFor(t, func() bool { return changed.Load() == 1 })
			if got := names(); strings.Contains(got, "hotplate.set") {
				t.Errorf("a changed tool is listed: %s", got)
			}
			time.Sleep(50 * time.Millisecond)
			if changed.Load() != 1 || r.alerts.kinds()[grant.KindPins] != 2 {
				t.Errorf("%d notifications, alerts %v", changed.Load(), r.alerts.kinds())
			}
		})
	}
}

// TestC37_SessionsComeBack covers R37.
func TestC37_SessionsComeBack(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	c := rawClient(t, r, &recorder{})
	mine := c.session
	if status, _ := c.post(`{"jsonrpc":"2.0","id":1,"method":"ping"}`); status != http.StatusOK {
		t.Fatal(status)
	}
	c.session = "never-heard-of"
	if status, _ := c.post(`{"jsonrpc":"2.0","id":1,"method":"ping"}`); status != http.StatusNotFound {
		t.Errorf("an unknown session: %d", status)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, c.addr, strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"ping"}`))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "mallory")
	req.Header.Set("Mcp-Session-Id", mine)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusNotFound {
		t.Errorf("another's session: %d", resp.StatusCode)
	}
}

func TestC36_MethodsAndHeaders(t *testing.T) {
	t.Parallel()
	r, up := newRig(t), &recorder{}
	c := rawClient(t, r, up)
	if _, answer := c.post(`{"jsonrpc":"2.0","id":1,"method":"vendor/move","params":{"x":1}}`); !bytes.Contains(answer, []byte("-32601")) {
		t.Errorf("a vendor method: %s", answer)
	}
	if _, answer := c.post(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"arm.move","inputResponses":{"q":{"ok":true}}}}`); !bytes.Contains(answer, []byte("no-question")) {
		t.Errorf("an answer to no question: %s", answer)
	}
	for header, value := range map[string]string{"Mcp-Method": "ping", "Mcp-Name": "sensor.read"} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, c.addr, strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"arm.move"}}`))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "alice")
		req.Header.Set(header, value)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode != http.StatusBadRequest {
			t.Errorf("%s %s: %d", header, value, resp.StatusCode)
		}
	}
	if len(up.seen()) != 0 {
		t.Error("reached the upstream")
	}
}

func TestC33_TheCredentialIsNeeded(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	addr := r.front("http://127.0.0.1:1")
	for name, change := range map[string]func(*http.Request){
		"no credential": func(q *http.Request) { q.Header.Del("Authorization") },
		"foreign page":  func(q *http.Request) { q.Header.Set("Origin", "https://evil.example") },
		"rebound name":  func(q *http.Request) { q.Host = "evil.example" },
	} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, addr, strings.NewReader(`{}`))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "alice")
		change(req)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode != http.StatusUnauthorized && resp.StatusCode != http.StatusForbidden {
			t.Errorf("%s: %d", name, resp.StatusCode)
		}
	}
}

// TestC28_TheClientsCredentialStaysHere: it is not sent upstream.
func TestC28_TheClientsCredentialStaysHere(t *testing.T) {
	t.Parallel()
	var got atomic.Pointer[http.Header]
	up := &recorder{}
	r := newRig(t)
	rawClient(t, r, http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		h := q.Header.Clone()
		got.Store(&h)
		up.ServeHTTP(w, q)
	}))
	if d := cmp.Diff("", got.Load().Get("Authorization")); d != "" {
		t.Error(d)
	}
}

func TestResourceOfAPlan(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	addr := r.front(labHTTP(t, r.lab.Server, nil))
	cs := r.httpAt(addr, "alice", nil)
	v := submit(t, cs, heatPlan())
	uri := "interlock://plans/" + v["plan_id"].(string)
	res, err := cs.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri})
	if err != nil {
		t.Fatal(err)
	}
	var view map[string]any
	if err := json.Unmarshal([]byte(res.Contents[0].Text), &view); err != nil || view["state"] != "accepted" {
		t.Errorf("%v %v", view, err)
	}
	if _, err := r.httpAt(addr, "mallory", nil).ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri}); err == nil {
		t.Error("another's plan was read")
	}
}
