package rule

import (
	"fmt"
	"reflect"
	"slices"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/ext"
)

// costLimit bounds one evaluation, in CEL's cost units; a plan at its size
// limit with a nested loop over steps stays below a tenth of it.
const costLimit = 2_000_000

// patterns holds the compiled pattern of every literal in the checks of a
// site. It is filled while compiling and only read afterwards.
type patterns map[string]pattern

func text(name string) *cel.Type { return cel.ObjectType("rule." + name) }

// newEnv declares what rules may read. Anything else does not compile.
func newEnv(p patterns) (*cel.Env, error) {
	types := []any{ext.ParseStructTags(true)}
	for _, v := range []any{&Text{}, &Thing{}, &Value{}, &Call{}, &Vessel{}, &Claim{}, &Proof{}, &Person{}, &Window{}} {
		types = append(types, reflect.TypeOf(v))
	}
	env, err := cel.NewEnv(append([]cel.EnvOption{
		ext.NativeTypes(types...),
		ext.Strings(),
		cel.Variable("plan", text("Text")),
		cel.Variable("goal", text("Text")),
		cel.Variable("step", text("Text")),
		cel.Variable("call", text("Call")),
		cel.Variable("steps", cel.ListType(text("Text"))),
		cel.Variable("prose", cel.ListType(text("Text"))),
		cel.Variable("attachments", cel.ListType(text("Text"))),
		cel.Variable("calls", cel.ListType(text("Call"))),
		cel.Variable("vessels", cel.ListType(text("Vessel"))),
		cel.Variable("claims", cel.ListType(text("Claim"))),
		cel.Variable("hard", cel.ListType(text("Proof"))),
		cel.Variable("by", text("Person")),
		cel.Variable("state", cel.MapType(cel.StringType, cel.StringType)),
	}, functions(p)...)...)
	if err != nil {
		return nil, fmt.Errorf("building the rule language: %w", err)
	}
	return env, nil
}

// functions are the questions a rule may ask of a text.
func functions(p patterns) []cel.EnvOption {
	ask := func(name string, m mode) cel.EnvOption {
		return cel.Function(name, cel.MemberOverload("text_"+name, []*cel.Type{text("Text"), cel.StringType}, cel.BoolType,
			cel.BinaryBinding(func(t, s ref.Val) ref.Val {
				x, ok := t.Value().(*Text)
				lit, isString := s.Value().(string)
				pat, known := p[lit]
				if !ok || !isString || !known {
					return types.NewErr("%s: the pattern %v was not compiled", name, s.Value())
				}
				return types.Bool(x.live(lit, pat).matches(x, m))
			})))
	}
	return []cel.EnvOption{
		ask("says", asserted), ask("mentions", mentioned), ask("denies", denied),
		number("max", func(v *Value) bool { return true }, func(best, v float64) bool { return v > best }, noValue),
		number("min", func(v *Value) bool { return true }, func(best, v float64) bool { return v < best }, -noValue),
		number("setting", func(v *Value) bool { return !v.Limit }, func(best, v float64) bool { return v > best }, noValue),
		cel.Function("between", cel.MemberOverload("text_between", []*cel.Type{text("Text"), cel.IntType, cel.IntType}, cel.BoolType,
			cel.FunctionBinding(func(args ...ref.Val) ref.Val {
				x, ok := args[0].Value().(*Text)
				from, okFrom := args[1].Value().(int64)
				to, okTo := args[2].Value().(int64)
				if !ok || !okFrom || !okTo {
					return types.NewErr("between: want a text and two times in minutes after midnight")
				}
				return types.Bool(x.between(Window{From: from, To: to}))
			}))),
		cel.Function("names", cel.MemberOverload("text_names", []*cel.Type{text("Text"), cel.StringType}, cel.BoolType,
			cel.BinaryBinding(func(t, s ref.Val) ref.Val {
				x, ok := t.Value().(*Text)
				id, isString := s.Value().(string)
				if !ok || !isString {
					return types.NewErr("names: want a text and an identifier")
				}
				return types.Bool(x.names(id))
			}))),
	}
}

// between reports whether the text names a time of day in the window, or a
// span that begins in it.
func (t *Text) between(w Window) bool {
	return slices.ContainsFunc(t.Clocks, w.within) || slices.ContainsFunc(t.Windows, func(x *Window) bool { return w.within(x.From) })
}

// names reports whether the text names the thing, by identifier with or
// without its prefix, and does not deny it.
func (t *Text) names(id string) bool {
	for _, e := range t.Entities {
		if !e.Negated && (e.ID == id || e.ID == "site:"+id || e.Kind+":"+e.Name == id) {
			return true
		}
	}
	return false
}

// number declares a function over the numbers of one axis.
func number(name string, keep func(*Value) bool, better func(best, v float64) bool, none float64) cel.EnvOption {
	return cel.Function(name, cel.MemberOverload("text_"+name, []*cel.Type{text("Text"), cel.StringType}, cel.DoubleType,
		cel.BinaryBinding(func(t, s ref.Val) ref.Val {
			x, ok := t.Value().(*Text)
			axis, isString := s.Value().(string)
			if !ok || !isString {
				return types.NewErr("%s: want a text and an axis", name)
			}
			best := none
			for _, v := range x.Quantities {
				val := v.Value
				if name == "min" {
					val = v.Low
				}
				if v.Axis == axis && keep(v) && better(best, val) {
					best = val
				}
			}
			return types.Double(best)
		})))
}
