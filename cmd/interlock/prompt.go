package main

import "interlock/internal/prompt"

// promptCmd shows what models are asked.
type promptCmd struct {
	Show promptShowCmd `cmd:"" help:"Print the prompts of judges and chief with their digest."`
}

type promptShowCmd struct{}

func (promptShowCmd) Run(e *env) error {
	set, err := prompt.Load()
	if err != nil {
		return err
	}
	return set.Show(e.Stdout)
}
