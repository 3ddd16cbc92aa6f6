package wire_test

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"interlock/internal/gate/wire"
)

func TestC22_AmbiguousFramesAreRefused(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		in   string
		code int
	}{
		"batch":                      {`[{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"}}]`, wire.CodeInvalidRequest},
		"nested batch":               {`[[{"jsonrpc":"2.0","id":1,"method":"ping"}]]`, wire.CodeInvalidRequest},
		"batch after space":          {" \t\r\n[{}]", wire.CodeInvalidRequest},
		"byte order mark and batch":  {"\xef\xbb\xbf[{}]", wire.CodeParse},
		"byte order mark":            {"\xef\xbb\xbf{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}", wire.CodeParse},
		"empty batch":                {`[]`, wire.CodeInvalidRequest},
		"duplicate key":              {`{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/call"}`, wire.CodeInvalidRequest},
		"duplicate by escape":        {`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"safe","n\u0061me":"unsafe"}}`, wire.CodeInvalidRequest},
		"deep duplicate":             {`{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":[{"b":{"c":1,"c":2}}]}}`, wire.CodeInvalidRequest},
		"case variant":               {`{"jsonrpc":"2.0","id":1,"method":"m","params":{"name":"safe","Name":"unsafe"}}`, wire.CodeInvalidRequest},
		"case variant, long s":       {`{"jsonrpc":"2.0","id":1,"method":"m","params":{"arguments":{"params":1,"param\u017f":2}}}`, wire.CodeInvalidRequest},
		"case variant, kelvin":       {`{"jsonrpc":"2.0","id":1,"method":"m","params":{"task":1,"tas\u212a":2}}`, wire.CodeInvalidRequest},
		"case variant of envelope":   {`{"jsonrpc":"2.0","id":1,"method":"ping","Method":"tools/call"}`, wire.CodeInvalidRequest},
		"lone variant of envelope":   {`{"jsonrpc":"2.0","id":1,"Method":"tools/call"}`, wire.CodeInvalidRequest},
		"NUL key":                    {`{"jsonrpc":"2.0","id":1,"method":"m","params":{"name\u0000":"x"}}`, wire.CodeInvalidRequest},
		"control character in key":   {`{"jsonrpc":"2.0","id":1,"method":"m","params":{"a\u0008":1}}`, wire.CodeInvalidRequest},
		"overflowing number":         {`{"jsonrpc":"2.0","id":1,"method":"m","params":{"v":1e309}}`, wire.CodeInvalidRequest},
		"vanishing number":           {`{"jsonrpc":"2.0","id":1,"method":"m","params":{"v":1e-400}}`, wire.CodeInvalidRequest},
		"NaN":                        {`{"jsonrpc":"2.0","id":1,"method":"m","params":{"v":NaN}}`, wire.CodeParse},
		"infinity":                   {`{"jsonrpc":"2.0","id":1,"method":"m","params":{"v":-Infinity}}`, wire.CodeParse},
		"two values":                 {`{"jsonrpc":"2.0","id":1,"method":"ping"} {"jsonrpc":"2.0","id":2,"method":"tools/call"}`, wire.CodeParse},
		"invalid UTF-8":              {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\xff\"}", wire.CodeParse},
		"request and response":       {`{"jsonrpc":"2.0","id":1,"method":"ping","result":{}}`, wire.CodeInvalidRequest},
		"result and error":           {`{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":"x"}}`, wire.CodeInvalidRequest},
		"null id":                    {`{"jsonrpc":"2.0","id":null,"method":"tools/call"}`, wire.CodeInvalidRequest},
		"fractional id":              {`{"jsonrpc":"2.0","id":1.5,"method":"ping"}`, wire.CodeInvalidRequest},
		"object id":                  {`{"jsonrpc":"2.0","id":{},"method":"ping"}`, wire.CodeInvalidRequest},
		"list of params":             {`{"jsonrpc":"2.0","id":1,"method":"ping","params":[1]}`, wire.CodeInvalidRequest},
		"other version":              {`{"jsonrpc":"1.0","id":1,"method":"ping"}`, wire.CodeInvalidRequest},
		"no version":                 {`{"id":1,"method":"ping"}`, wire.CodeInvalidRequest},
		"unknown key":                {`{"jsonrpc":"2.0","id":1,"method":"ping","approved":true}`, wire.CodeInvalidRequest},
		"empty method":               {`{"jsonrpc":"2.0","id":1,"method":""}`, wire.CodeInvalidRequest},
		"method with hidden letters": {`{"jsonrpc":"2.0","id":1,"method":"tools/call\u200b"}`, wire.CodeInvalidRequest},
		"text":                       {`"ping"`, wire.CodeParse},
		"nothing":                    {``, wire.CodeParse},
		"too deep":                   {`{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":` + strings.Repeat("[", 100) + strings.Repeat("]", 100) + `}}`, wire.CodeInvalidRequest},
		"too long":                   {`{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":"` + strings.Repeat("x", wire.MaxClientFrame) + `"}}`, wire.CodeInvalidRequest},
	} {
		_, r := wire.ParseClient([]byte(tc.in))
		if r == nil || r.Code != tc.code {
			t.Errorf("%s: got %v, want code %d", name, r, tc.code)
		}
	}
}

func TestC22_NumbersAndBytesStayAsTheyAre(t *testing.T) {
	t.Parallel()
	const in = `{"jsonrpc":"2.0","id":9007199254740993,"method":"tools/call","params":{"name":"x","arguments":{ "id":9007199254740993,"v":0.1000000000000000055,"t":"a\u003cb" }}}`
	f, r := wire.ParseClient([]byte(in))
	if r != nil {
		t.Fatal(r)
	}
	if string(f.Raw) != in || f.Key != "n9007199254740993" || f.Kind != wire.Request {
		t.Errorf("got %+v", f)
	}
	if got := string(wire.Get(f.Params, "arguments")); got != `{ "id":9007199254740993,"v":0.1000000000000000055,"t":"a\u003cb" }` {
		t.Errorf("arguments: %s", got)
	}
}

func TestKeyOfAnID(t *testing.T) {
	t.Parallel()
	for _, same := range [][2]string{{`1`, `1.0`}, {`10`, `1e1`}, {`"a"`, `"\u0061"`}} {
		if a, b := wire.Key([]byte(same[0])), wire.Key([]byte(same[1])); a != b || a == "" {
			t.Errorf("%s and %s: %q and %q", same[0], same[1], a, b)
		}
	}
	if wire.Key([]byte(`1`)) == wire.Key([]byte(`"1"`)) {
		t.Error("a number and a text are one id")
	}
}

// TestSetAndDropLeaveTheRest: what is rewritten changes nothing beside.
func TestSetAndDropLeaveTheRest(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		keys := rapid.SliceOfNDistinct(rapid.StringMatching(`[a-z]{1,4}`), 1, 6, rapid.ID[string]).Draw(t, "keys")
		var fields []wire.Field
		for _, k := range keys {
			fields = append(fields, wire.Field{Key: k, Value: []byte(rapid.SampledFrom([]string{`1`, `9007199254740993`, `"x"`, `{"a": [1,  2]}`, `null`}).Draw(t, "value"))})
		}
		object := wire.Object(fields...)
		set, err := wire.Set(object, keys[0], []byte(`"new"`))
		if err != nil {
			t.Fatal(err)
		}
		for i, k := range keys {
			want := string(fields[i].Value)
			if i == 0 {
				want = `"new"`
			}
			if got := string(wire.Get(set, k)); got != want {
				t.Fatalf("%s: %s, want %s", k, got, want)
			}
		}
		dropped, err := wire.Drop(object, keys[0])
		if err != nil || wire.Get(dropped, keys[0]) != nil {
			t.Fatalf("dropped: %s %v", dropped, err)
		}
	})
}

func FuzzParseClient(f *testing.F) {
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","arguments":{"a":1}}}`))
	f.Add([]byte(`{"jsonrpc":"2.0","id":"a","result":{}}`))
	f.Add([]byte(`[{"jsonrpc":"2.0","id":1,"method":"ping"}]`))
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":{"b":1,"B":2}}}`))
	f.Fuzz(func(t *testing.T, in []byte) {
		frame, r := wire.ParseClient(in)
		if r != nil {
			if _, err := wire.Fields(r.Reply()); err != nil {
				t.Fatalf("the refusal is not JSON: %v", err)
			}
			return
		}
		again, r := wire.ParseServer(frame.Raw)
		if r != nil || again.Method != frame.Method || again.Key != frame.Key || again.Kind != frame.Kind {
			t.Fatalf("read differently as a server's frame: %+v %v", again, r)
		}
		if bytes.ContainsAny(wire.OneLine(frame.Raw), "\r\n") {
			t.Fatal("more than one line")
		}
	})
}

func FuzzReadEvent(f *testing.F) {
	f.Add([]byte("event: message\nid: 1\ndata: {}\n\n"))
	f.Add([]byte("data: a\ndata: b\r\n\r\n: comment\n\n"))
	f.Fuzz(func(t *testing.T, in []byte) {
		r := bufio.NewReader(bytes.NewReader(in))
		for range 100 {
			e, err := wire.ReadEvent(r, 1<<16)
			if err != nil {
				return
			}
			if len(e.Append(nil)) == 1 {
				continue // every field is empty: nothing to write
			}
			again, err := wire.ReadEvent(bufio.NewReader(bytes.NewReader(e.Append(nil))), 1<<17)
			if err != nil || !bytes.Equal(again.Data, e.Data) || again.ID != e.ID {
				t.Fatalf("%+v came back as %+v, %v", e, again, err)
			}
		}
	})
}

func TestLinesOverTheLimitArePassedOver(t *testing.T) {
	t.Parallel()
	in := strings.Repeat("x", 200_000) + "\n{\"a\":1}\r\n\n{\"b\":2}"
	l := wire.NewLines(strings.NewReader(in), io.Discard, 100, func() error { return nil })
	if _, err := l.Read(); !errors.Is(err, wire.ErrTooLong) {
		t.Fatalf("the long line: %v", err)
	}
	for _, want := range []string{`{"a":1}`, `{"b":2}`} {
		if got, err := l.Read(); err != nil || string(got) != want {
			t.Fatalf("got %q, %v, want %s", got, err, want)
		}
	}
	if _, err := l.Read(); !errors.Is(err, io.EOF) {
		t.Fatalf("the end: %v", err)
	}
}
