// Package rule checks the rules that a site states as code. A rule is a CEL
// expression over the typed facts of a plan, true where the plan breaks it; it
// stands in the profile beside the prose it covers, with examples that are its
// tests. A rule that does not compile stops the start; one that fails while it
// runs is a flag, never a pass.
package rule

import (
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"time"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/types"

	"interlock/internal/fact"
	"interlock/internal/site"
	"interlock/internal/verdict"
)

// A Set holds the compiled checks of one site. It is immutable and safe for
// concurrent use.
type Set struct {
	checks []compiled
	prose  prose // what could be read of the profile's prose
}

// A compiled check and what it is asked about: every step, every call, or the
// plan as a whole.
type compiled struct {
	site.Check
	prog  cel.Program
	level verdict.Level
	class verdict.Class
	scope scope
	own   bool // of the profile, not of every site
}

type scope uint8

const (
	wholePlan scope = iota
	eachStep
	eachCall
)

// axes are the axes of quantities a rule may ask for.
var axes = []string{"", "speed", "temperature", "temp_delta", "pressure", "rotation", "acceleration", "mass", "volume", "length", "force", "time", "flow", "concentration", "amount", "fraction", "angle", "angular_speed", "energy", "power", "money", "ramp", "density", "other"}

// baseProfile holds the rules of every site.
//
//go:embed base.yaml
var baseProfile []byte

// Base returns the rules of every site, as a profile of their own.
func Base() (*site.Site, error) {
	sites, err := site.Decode("base.yaml", baseProfile)
	if err != nil {
		return nil, fmt.Errorf("the rules of every site: %w", err)
	}
	return sites[0], nil
}

// Compile compiles the rules of every site and the checks of the profile. The
// error names file, line and check of each that does not compile, reads a field that is not there, or asks
// for a concept nobody knows.
func Compile(s *site.Site, voc Vocabulary) (*Set, error) {
	base, err := Base()
	if err != nil {
		return nil, err
	}
	var common []site.Check
	for _, c := range base.Checks {
		if !slices.ContainsFunc(s.Checks, func(own site.Check) bool { return own.ID == c.ID }) {
			common = append(common, c)
		}
	}
	set, err := compileAll(s, common, voc)
	if err != nil {
		return nil, err
	}
	set.prose = readProse(s)
	return set, nil
}

// compileAll compiles the common checks and those of the profile.
func compileAll(s *site.Site, common []site.Check, voc Vocabulary) (*Set, error) {
	pats := patterns{}
	env, err := newEnv(pats)
	if err != nil {
		return nil, err
	}
	set := &Set{}
	var errs []error
	for i, c := range slices.Concat(common, s.Checks) {
		one, err := compile(env, s, c, pats, voc)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s:%d: site %s, check %s: %w", c.File, c.Line, s.ID, c.ID, err))
			continue
		}
		one.own = i >= len(common)
		set.checks = append(set.checks, one)
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	return set, nil
}

func compile(env *cel.Env, s *site.Site, c site.Check, pats patterns, voc Vocabulary) (compiled, error) {
	out := compiled{Check: c}
	if err := out.level.UnmarshalText([]byte(c.Level)); err != nil || out.level == verdict.Pass {
		return out, fmt.Errorf("level %q: want block or flag", c.Level)
	}
	if err := out.class.UnmarshalText([]byte(c.Class)); err != nil {
		return out, err
	}
	tree, iss := env.Compile(c.When)
	if iss.Err() != nil {
		return out, iss.Err()
	}
	if !tree.OutputType().IsExactType(types.BoolType) {
		return out, fmt.Errorf("when: gives %s, want bool", tree.OutputType())
	}
	w := walker{site: s, pats: pats, voc: voc}
	ast.PreOrderVisit(tree.NativeRep().Expr(), ast.NewExprVisitor(w.visit))
	if w.err != nil {
		return out, w.err
	}
	out.scope = w.scope
	prog, err := env.Program(tree, cel.CostLimit(costLimit), cel.EvalOptions(cel.OptOptimize))
	if err != nil {
		return out, fmt.Errorf("when: %w", err)
	}
	out.prog = prog
	return out, nil
}

// A walker looks through an expression for what the type checker cannot know:
// patterns, axes, argument names; and for the scope.
type walker struct {
	site  *site.Site
	pats  patterns
	voc   Vocabulary
	scope scope
	err   error
}

func (w *walker) visit(e ast.Expr) {
	switch e.Kind() {
	case ast.IdentKind:
		switch e.AsIdent() {
		case "call":
			w.scope = eachCall
		case "step":
			w.scope = max(w.scope, eachStep)
		}
	case ast.SelectKind:
		sel := e.AsSelect()
		if op := sel.Operand(); op.Kind() == ast.SelectKind && op.AsSelect().FieldName() == "args" {
			w.argument(sel.FieldName())
		}
	case ast.CallKind:
		w.call(e.AsCall())
	case ast.UnspecifiedExprKind, ast.ComprehensionKind, ast.ListKind, ast.LiteralKind, ast.MapKind, ast.StructKind:
		// nothing of ours: the type checker has seen to it
	}
}

func (w *walker) fail(format string, args ...any) {
	if w.err == nil {
		w.err = fmt.Errorf(format, args...)
	}
}

// argument refuses the name of an argument that no tool of the site has.
func (w *walker) argument(name string) {
	for i := range w.site.Tools {
		if w.site.Tools[i].Arg(name) != nil {
			return
		}
	}
	w.fail("when: no tool of the site has an argument %q", name)
}

func (w *walker) call(c ast.CallExpr) {
	switch c.FunctionName() {
	case "says", "mentions", "denies":
		lit, ok := literal(c)
		if !ok {
			w.fail("when: %s wants its pattern written out", c.FunctionName())
			return
		}
		p, err := parsePattern(lit, w.voc)
		if err != nil {
			w.fail("when: %w", err)
			return
		}
		w.pats[lit] = p
	case "max", "min", "setting":
		if lit, ok := literal(c); !ok || !slices.Contains(axes, lit) {
			w.fail("when: %s: there is no axis %q", c.FunctionName(), lit)
		}
	}
}

func literal(c ast.CallExpr) (string, bool) {
	if len(c.Args()) != 1 || c.Args()[0].Kind() != ast.LiteralKind {
		return "", false
	}
	s, ok := c.Args()[0].AsLiteral().Value().(string)
	return s, ok
}

// Len returns the number of checks, those of every site included.
func (s *Set) Len() int { return len(s.checks) }

// Eval holds the plan against every check. Nothing stops at the first finding.
func (s *Set) Eval(f *fact.Set, st site.State, now time.Time) []verdict.Finding {
	v := newView(f, st, now)
	base := map[string]any{
		"plan": v.plan, "goal": v.goal, "steps": v.steps, "prose": v.args, "attachments": v.attachments, "calls": v.calls,
		"vessels": v.vessels, "claims": v.claims, "hard": v.hard, "by": v.by, "state": v.state,
	}
	var out []verdict.Finding
	for i := range s.checks {
		out = append(out, s.checks[i].run(v, base)...)
	}
	return append(out, s.prose.check(f)...)
}

// run evaluates one check over its scope.
func (c *compiled) run(v *view, base map[string]any) []verdict.Finding {
	switch c.scope {
	case eachCall:
		var out []verdict.Finding
		for _, call := range v.calls {
			base["call"] = call
			base["step"] = &Text{}
			if n := int(call.Step); n >= 1 && n <= len(v.steps) {
				base["step"] = v.steps[n-1]
			}
			if f, bad := c.ask(base, int(call.Step)); bad {
				out = append(out, f)
			}
		}
		return out
	case eachStep:
		var out []verdict.Finding
		for _, step := range v.steps {
			base["step"] = step
			if f, bad := c.ask(base, int(step.Number)); bad {
				out = append(out, f)
			}
		}
		return out
	case wholePlan:
		if f, bad := c.ask(base, 0); bad {
			return []verdict.Finding{f}
		}
	}
	return nil
}

// ask evaluates once. A fault at run time is a flag with its cause.
func (c *compiled) ask(vars map[string]any, step int) (verdict.Finding, bool) {
	f := verdict.Finding{
		Rule: c.ID, Level: c.level, Class: c.class, Span: verdict.Span{Step: step},
		Message: c.Message, Need: c.Need, Refs: c.Covers,
	}
	val, _, err := c.prog.Eval(vars)
	if err != nil {
		f.Level = verdict.Flag
		f.Message = fmt.Sprintf("the check could not be evaluated: %v", err)
		f.Need = ""
		return f, true
	}
	broken, ok := val.Value().(bool)
	if !ok {
		f.Level, f.Message = verdict.Flag, fmt.Sprintf("the check gave %v, not true or false", val.Value())
		return f, true
	}
	return f, broken
}
