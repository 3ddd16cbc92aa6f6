package main

import (
	"fmt"
	"os"
	"path/filepath"

	"interlock/internal/check/injection"
	"interlock/internal/config"
)

// newScreen builds the injection screen the configuration asks for, with the
// site's own rules beside ours.
func newScreen(cfg *config.Config) (*injection.Screen, error) {
	o := injection.Options{
		Mode:       injection.Mode(cfg.Screen.Mode),
		Thresholds: injection.Thresholds{TauA: cfg.Policy.TauA, TauW: cfg.Policy.TauW},
	}
	if cfg.Screen.Rules != "" {
		files, err := filepath.Glob(filepath.Join(cfg.Screen.Rules, "*.yaml"))
		if err != nil || len(files) == 0 {
			return nil, fmt.Errorf("%s: expected at least one .yaml file with rules", cfg.Screen.Rules)
		}
		for _, f := range files {
			data, err := os.ReadFile(f)
			if err != nil {
				return nil, fmt.Errorf("reading screen rules: %w", err)
			}
			o.Rules = append(o.Rules, injection.Source{Name: f, Data: data})
		}
	}
	return injection.New(o)
}
