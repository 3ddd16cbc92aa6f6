package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"interlock/internal/knowledge"
	"interlock/internal/knowledge/derive"
	"interlock/internal/rule"
	"interlock/internal/site"
)

type siteCmd struct {
	Init siteInitCmd `cmd:"" help:"Draft a profile from the tools of an MCP server."`
	Lint siteLintCmd `cmd:"" help:"Read profiles and compile their rules; say what stays unchecked."`
	Test siteTestCmd `cmd:"" help:"Run the examples of every rule as its tests."`
	Show siteShowCmd `cmd:"" help:"Show a profile as judges are given it, and its rules as code."`
}

// profileArg names the profiles of a site command.
type profileArg struct {
	Site string `arg:"" help:"Site profile: a file or a folder, with #ID for one site of it." placeholder:"FILE|DIR[#ID]"`
}

// A ruled site is a profile with its compiled rules.
type ruled struct {
	profile *site.Site
	deriver *derive.Deriver
	rules   *rule.Set
}

// load reads the profiles and compiles their rules. Everything wrong is the
// user's to mend.
func (a profileArg) load() ([]ruled, error) {
	path, id := site.ParseRef(a.Site)
	set, err := site.Load(path)
	if err != nil {
		return nil, badInput(err)
	}
	sites := set.Sites
	if id != "" {
		one, err := set.Pick(id)
		if err != nil {
			return nil, badInput(err)
		}
		sites = []*site.Site{one}
	}
	g, err := knowledge.Embedded()
	if err != nil {
		return nil, fmt.Errorf("knowledge graph: %w", err)
	}
	world, err := derive.NewWorld(g)
	if err != nil {
		return nil, err
	}
	var out []ruled
	var errs []error
	for _, s := range sites {
		d := world.For(s)
		rules, err := rule.Compile(s, d.Linker())
		if err != nil {
			errs = append(errs, err)
			continue
		}
		out = append(out, ruled{s, d, rules})
	}
	if len(errs) > 0 {
		return nil, badInput(errors.Join(errs...))
	}
	return out, nil
}

// uncovered are the prose rules no check covers.
func (r ruled) uncovered() []string {
	var out []string
	for _, prose := range r.profile.Rules {
		if !slices.ContainsFunc(r.profile.Checks, func(c site.Check) bool { return slices.Contains(c.Covers, prose.ID) }) {
			out = append(out, prose.ID)
		}
	}
	return out
}

type siteLintCmd struct{ profileArg }

func (c *siteLintCmd) Run(e *env) error {
	sites, err := c.load()
	if err != nil {
		return err
	}
	for _, r := range sites {
		open := r.uncovered()
		fmt.Fprintf(e.Stdout, "%s: %d rules as code beside %d of every site, %d of %d prose rules covered", r.profile.ID, len(r.profile.Checks), r.rules.Len()-len(r.profile.Checks), len(r.profile.Rules)-len(open), len(r.profile.Rules))
		if len(open) > 0 {
			fmt.Fprintf(e.Stdout, "; left to the judges: %s", strings.Join(open, ", "))
		}
		fmt.Fprintln(e.Stdout)
	}
	return nil
}

type siteTestCmd struct{ profileArg }

func (c *siteTestCmd) Run(e *env) error {
	sites, err := c.load()
	if err != nil {
		return err
	}
	failed := 0
	for _, r := range sites {
		n, failures := r.rules.Test(r.deriver.Example)
		for _, f := range failures {
			fmt.Fprintln(e.Stderr, "interlock:", f)
		}
		failed += len(failures)
		fmt.Fprintf(e.Stdout, "%s: %d examples of %d rules, %d failed\n", r.profile.ID, n, len(r.profile.Checks), len(failures))
	}
	if failed > 0 {
		return badInput(fmt.Errorf("%d examples do not come out as their rule says", failed))
	}
	return nil
}

type siteShowCmd struct{ profileArg }

func (c *siteShowCmd) Run(e *env) error {
	sites, err := c.load()
	if err != nil {
		return err
	}
	for _, r := range sites {
		fmt.Fprintf(e.Stdout, "%s\n\nRules as code:\n", site.Render(r.profile))
		for _, k := range r.profile.Checks {
			fmt.Fprintf(e.Stdout, "  %-26s %-5s %-11s %-10s %s\n", k.ID, k.Level, k.Class, strings.Join(k.Covers, ","), k.Message)
		}
		fmt.Fprintf(e.Stdout, "site version %s\n\n", r.profile.Digest)
	}
	return nil
}
