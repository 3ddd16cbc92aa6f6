package gate_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"interlock/internal/site"
)

// TestExampleProfiles loads the example profiles of public robot servers and,
// where the lists of their tools are at hand, holds every tool and argument
// name against them.
func TestExampleProfiles(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join("..", "..", "examples", "mcp", "*.yaml"))
	if err != nil || len(files) < 5 {
		t.Fatalf("%d profiles, %v", len(files), err)
	}
	known := publicTools(t)
	for _, file := range files {
		set, err := site.Load(file)
		if err != nil {
			t.Error(err)
			continue
		}
		for _, id := range set.IDs() {
			s := set.Site(id)
			safe, acts := 0, 0
			for _, tool := range s.Tools {
				switch tool.Effect {
				case site.Safe:
					safe++
				case site.Act:
					acts++
				case site.Observe:
				}
				if known == nil || strings.Contains(file, "labsim") {
					continue
				}
				args, ok := known[tool.Name]
				if !ok {
					t.Errorf("%s: no public server has a tool %s", id, tool.Name)
				}
				for _, a := range tool.Args {
					if !args[a.Name] {
						t.Errorf("%s: %s has no argument %s", id, tool.Name, a.Name)
					}
				}
			}
			if safe == 0 && id != "mcp-pylabrobot" { // its stop is an action of a tool that also heats
				t.Errorf("%s lists no safe action", id)
			}
		}
	}
}

func publicTools(t *testing.T) map[string]map[string]bool {
	shared := os.Getenv("INTERLOCK_SHARED")
	if shared == "" {
		shared = filepath.Join("..", "..", "..", "shared")
	}
	data, err := os.ReadFile(filepath.Join(shared, "design", "robot-mcp-tools.json"))
	if err != nil {
		t.Log("the lists of public servers are not at hand: names are not compared")
		return nil
	}
	var servers []struct {
		Tools []struct {
			Name string
			Args []struct{ Name string }
		}
	}
	if err := json.Unmarshal(data, &servers); err != nil {
		t.Fatal(err)
	}
	known := map[string]map[string]bool{}
	for _, s := range servers {
		for _, tool := range s.Tools {
			if known[tool.Name] == nil {
				known[tool.Name] = map[string]bool{}
			}
			for _, a := range tool.Args {
				known[tool.Name][a.Name] = true
			}
		}
	}
	return known
}
