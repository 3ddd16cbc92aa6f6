package batch_test

import (
	"encoding/json"
	"strings"
	"testing"

	"interlock/internal/llm"
	"interlock/internal/llm/batch"
)

func TestNewCall(t *testing.T) {
	t.Parallel()
	c := batch.NewCall("p/1/j", "m", llm.Request{System: "s", Prompt: "p", Schema: []byte(`{"type":"object"}`)}, true)
	b, err := json.Marshal(c)
	want := `{"custom_id":"p/1/j","method":"POST","url":"/v1/chat/completions","body":{"model":"m","messages":[{"role":"system","content":"s"},{"role":"user","content":"p"}],"response_format":{"type":"json_schema","json_schema":{"name":"answer","strict":true,"schema":{"type":"object"}}}}}`
	if err != nil || string(b) != want {
		t.Errorf("got %s, %v", b, err)
	}
}

func TestShapes(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]llm.Reply{
		`{"custom_id":"a/j","text":"x"}`:                                {Text: "x", Stop: llm.StopDone},
		`{"custom_id":"a/j","response":"x"}`:                            {Text: "x", Stop: llm.StopDone},
		`{"custom_id":"a/j","response":{"status_code":200,"body":"x"}}`: {Text: "x", Stop: llm.StopDone},
		`{"custom_id":"a/j","response":{"status_code":200,"body":{"model":"m","choices":[{"finish_reason":"stop","message":{"content":"x"}}],"usage":{"prompt_tokens":5}}},"error":null}`: {Text: "x", Stop: llm.StopDone, Model: "m", InputTokens: 5},
		`{"custom_id":"a/j","response":{"choices":[{"finish_reason":"length","message":{"content":"x"}}]}}`:                                                                               {Text: "x", Stop: llm.StopLength},
		`{"custom_id":"a/j","response":{"choices":[{"finish_reason":"stop","message":{"content":"","refusal":"no"}}]}}`:                                                                   {Stop: llm.StopRefused},
		`{"custom_id":"a/j","response":{"body":{"status":"completed","output":[{"type":"reasoning"},{"type":"message","content":[{"type":"output_text","text":"x"}]}]}}}`:                 {Text: "x", Stop: llm.StopDone},
		`{"custom_id":"a/j","result":{"type":"succeeded","message":{"model":"c","stop_reason":"end_turn","content":[{"type":"thinking"},{"type":"text","text":"x"}]}}}`:                   {Text: "x", Stop: llm.StopDone, Model: "c"},
		`{"key":"a/j","response":{"modelVersion":"g","candidates":[{"finishReason":"STOP","content":{"parts":[{"text":"t","thought":true},{"text":"x"}]}}]}}`:                             {Text: "x", Stop: llm.StopDone, Model: "g"},
	} {
		got, err := batch.Read("f", strings.NewReader(in))
		if err != nil || len(got.Malformed) > 0 || got.ByID["a/j"].Problem != "" || got.ByID["a/j"].Reply != want {
			t.Errorf("%s:\n got %+v, %v", in, got, err)
		}
	}
}

func TestProblemsAreCounted(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`{"custom_id":"a/j"}`:                                                      "neither text nor response",
		`{"custom_id":"a/j","error":{}}`:                                           "reports an error",
		`{"custom_id":"a/j","response":1}`:                                         "no known shape",
		`{"custom_id":"a/j","response":{"status_code":500,"body":{"x":1}}}`:        "HTTP 500",
		`{"custom_id":"a/j","response":{"choices":[]}}`:                            "no answer",
		`{"custom_id":"a/j","result":{"type":"errored"}}`:                          "errored",
		`{"custom_id":"a/j","text":"x"}` + "\n" + `{"custom_id":"a/j","text":"y"}`: "two different answers",
		`{"custom_id":"a/j","text":"x"}` + "\n" + `{"custom_id":"a/j","text":"y"}` + "\n" + `{"custom_id":"a/j","text":"x"}`: "two different answers",
	} {
		got, err := batch.Read("f", strings.NewReader(in))
		if err != nil || !strings.Contains(got.ByID["a/j"].Problem, want) {
			t.Errorf("%s: got %+v, %v", in, got, err)
		}
	}
	got, err := batch.Read("f", strings.NewReader("{\n\n{\"text\":\"x\"}\n{\"custom_id\":\"a/j\",\"error\":{}}\n{\"custom_id\":\"a/j\",\"text\":\"x\"}\n"))
	if err != nil || len(got.Malformed) != 2 || !strings.HasPrefix(got.Malformed[0], "f:1: ") || got.ByID["a/j"].Reply.Text != "x" {
		t.Errorf("got %+v, %v: want two unreadable lines and the answer of the second try", got, err)
	}
}
