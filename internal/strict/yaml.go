package strict

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// YAML reads one YAML 1.2 document of plain values: no anchors, aliases, tags,
// merge keys, directives or second document, so that what a person reads is
// what is decoded and no file grows while it is read. Numbers are those of
// JSON; anything else that looks like one (0x1F, 1_000, .inf) is refused and
// must be quoted or rewritten.
func YAML(file string, data []byte) (*Node, error) {
	if err := CheckText(file, 1, data); err != nil {
		return nil, err
	}
	data = bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n"))
	y := yamlReader{file: file}
	if i := bytes.IndexAny(data, "\r\x00"); i >= 0 {
		return nil, y.fail(Pos{1 + bytes.Count(data[:i], []byte{'\n'}), 0}, "a control character (%q) stands in the line", data[i])
	}
	if i := bytes.IndexAny(data, "\u0085\u2028\u2029"); i >= 0 {
		return nil, y.fail(Pos{1 + bytes.Count(data[:i], []byte{'\n'}), 0},
			"a Unicode line break stands in the line, where YAML 1.1 and 1.2 differ: write it as an escape in double quotes")
	}
	tokens := lexer.Tokenize(string(data))
	if err := y.tokens(tokens); err != nil {
		return nil, err
	}
	parsed, err := parser.Parse(tokens, 0, parser.AllowDuplicateMapKey()) // object refuses them, in less time
	if err != nil {
		return nil, y.syntax(err)
	}
	var body ast.Node
	for _, doc := range parsed.Docs {
		if doc.Body == nil {
			continue
		}
		if body != nil {
			return nil, y.fail(at(doc.Body), "a second YAML document: one document per file")
		}
		body = doc.Body
	}
	if body == nil {
		return nil, y.fail(Pos{}, "the file is empty: expected a YAML map")
	}
	var root Node
	if err := y.node(&root, body, 0); err != nil {
		return nil, err
	}
	return &root, nil
}

type yamlReader struct{ file string }

func (y yamlReader) fail(p Pos, format string, args ...any) error {
	return &Error{File: y.file, Line: p.Line, Column: p.Column, Msg: fmt.Sprintf(format, args...)}
}

// syntax turns an error of the parser into ours.
func (y yamlReader) syntax(err error) error {
	var se yaml.Error
	if errors.As(err, &se) {
		var p Pos
		if tk := se.GetToken(); tk != nil && tk.Position != nil {
			p = Pos{tk.Position.Line, tk.Position.Column}
		}
		return y.fail(p, "not valid YAML: %s", oneLine(se.GetMessage()))
	}
	return y.fail(Pos{}, "not valid YAML: %s", oneLine(err.Error()))
}

// refused are the tokens that make YAML more than plain values.
var refused = map[token.Type]string{
	token.AnchorType:     "an anchor (&)",
	token.AliasType:      "an alias (*)",
	token.TagType:        "a tag (!)",
	token.MergeKeyType:   "a merge key (<<)",
	token.DirectiveType:  "a directive (%)",
	token.MappingKeyType: "an explicit key (?)",
}

// maxBlockKeys bounds the keys of one map in block style: the parser's work
// grows with their square.
const maxBlockKeys = 5000

// tokens refuses what the parser must not even see: constructs we do not
// allow, and nesting or breadth that would exhaust its stack or our patience.
func (y yamlReader) tokens(tokens token.Tokens) error {
	var flow, entries, line, documents int
	var blocks blockKeys
	for i, tk := range tokens {
		p := Pos{tk.Position.Line, tk.Position.Column}
		if what, bad := refused[tk.Type]; bad {
			return y.fail(p, "%s is not allowed here: write the value out, or quote the text", what)
		}
		if p.Line != line {
			line, entries = p.Line, 0
			if flow == 0 && blocks.add(p.Column, tk.Type == token.SequenceEntryType) > maxBlockKeys {
				return y.fail(p, "more than %d keys in one map", maxBlockKeys)
			}
		}
		switch tk.Type {
		case token.InvalidType:
			return y.fail(p, "not valid YAML: %s", oneLine(tk.Error))
		case token.DocumentHeaderType:
			documents++
			if documents > 1 || i > 0 && tokens[i-1].Type != token.CommentType {
				return y.fail(p, "a second YAML document: one document per file")
			}
		case token.SequenceStartType, token.MappingStartType:
			flow++
		case token.SequenceEndType, token.MappingEndType:
			flow--
		case token.SequenceEntryType:
			entries++
		default: // plain values
		}
		if flow > MaxDepth || entries > MaxDepth {
			return y.fail(p, "nested deeper than %d levels", MaxDepth)
		}
	}
	return nil
}

// blockKeys counts, for each open column, the lines that began there since a
// line began further left: the keys of one block map.
type blockKeys []struct{ column, n int }

func (b *blockKeys) add(column int, item bool) int {
	open := *b
	for len(open) > 0 && open[len(open)-1].column > column {
		open = open[:len(open)-1]
	}
	if len(open) == 0 || open[len(open)-1].column < column {
		open = append(open, struct{ column, n int }{column: column})
	}
	if !item {
		open[len(open)-1].n++
	}
	*b = open
	return open[len(open)-1].n
}

func at(n ast.Node) Pos {
	if tk := n.GetToken(); tk != nil && tk.Position != nil {
		return Pos{tk.Position.Line, tk.Position.Column}
	}
	return Pos{}
}

// node fills n from a YAML node.
func (y yamlReader) node(n *Node, from ast.Node, depth int) error {
	n.Pos = at(from)
	if depth > MaxDepth {
		return y.fail(n.Pos, "nested deeper than %d levels", MaxDepth)
	}
	switch v := from.(type) {
	case *ast.NullNode:
		n.Kind = Null
	case *ast.BoolNode:
		n.Kind, n.Text = Bool, "false"
		if v.Value {
			n.Text = "true"
		}
	case *ast.StringNode:
		if v.Token.Type == token.StringType && looksNumeric(v.Value) {
			return y.number(n, v.Value) // a number that the parser does not know, such as 1E3 or 1e999
		}
		n.Kind, n.Text = String, v.Value
	case *ast.LiteralNode:
		n.Kind, n.Text = String, v.Value.Value
	case *ast.IntegerNode, *ast.FloatNode:
		return y.number(n, from.GetToken().Value)
	case *ast.SequenceNode:
		n.Kind, n.Items = List, make([]Node, len(v.Values))
		for i, item := range v.Values {
			if err := y.node(&n.Items[i], item, depth+1); err != nil {
				return err
			}
		}
	case *ast.MappingValueNode:
		return y.object(n, []*ast.MappingValueNode{v}, depth)
	case *ast.MappingNode:
		return y.object(n, v.Values, depth)
	case *ast.InfinityNode, *ast.NanNode:
		return y.fail(n.Pos, "%s is not a finite number: quote it if it is meant as text", from.GetToken().Value)
	default:
		return y.fail(n.Pos, "this kind of YAML is not allowed here (%s)", from.Type())
	}
	return nil
}

func (y yamlReader) number(n *Node, text string) error {
	text = strings.TrimSpace(text)
	if !isJSONNumber(text) {
		return y.fail(n.Pos, "%s is not a plain decimal number: write it as one, or quote it if it is text", text)
	}
	if msg := checkNumber(text); msg != "" {
		return y.fail(n.Pos, "%s", msg)
	}
	n.Kind, n.Text = Number, text
	return nil
}

func (y yamlReader) object(n *Node, values []*ast.MappingValueNode, depth int) error {
	n.Kind, n.Fields = Map, make([]Field, len(values))
	var keys keySet
	for i, v := range values {
		p := at(v.Key)
		key, ok := v.Key.(*ast.StringNode)
		if !ok {
			return y.fail(p, "a key must be text: quote %s", strings.TrimSpace(v.Key.GetToken().Value))
		}
		if msg := keys.add(key.Value); msg != "" {
			return y.fail(p, "%s", msg)
		}
		n.Fields[i] = Field{Key: key.Value, Pos: p}
		if err := y.node(&n.Fields[i].Value, v.Value, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// oneLine keeps a message of the parser on one line.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
