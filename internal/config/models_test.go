package config_test

import (
	"strings"
	"testing"

	"interlock/internal/config"
)

const withModels = `models:
  - {name: heavy, kind: openai, model: big, key_env: K, price_in: 2, price_out: 8, temperature: 0}
  - {name: near, kind: openai, model: small, base_url: "http://127.0.0.1:11434/v1/", family: meta}
  - {name: far, kind: anthropic, model: c, key_file: key.txt, region: eu, samples: 3, price_in: 3, price_out: 15}
panel: {judges: [heavy, near], spare: [far], chief: far, depth: 1, max_depth: 3, budget: 0.5}
data:
  default: {pseudonyms: false}
  s1: {vendors: [openai], private: [Falcon], local_fields: [attachments]}
`

func TestModels(t *testing.T) {
	t.Parallel()
	c, err := config.Decode("c.yaml", []byte(withModels))
	if err != nil {
		t.Fatal(err)
	}
	heavy, near, far := c.Model("heavy"), c.Model("near"), c.Model("far")
	if heavy == nil || heavy.Family != "openai" || heavy.Vendor != "openai" || heavy.Local || *heavy.Temperature != 0 || heavy.Samples != 1 {
		t.Errorf("heavy: %+v", heavy)
	}
	if near == nil || !near.Local || near.Family != "meta" {
		t.Errorf("near: %+v", near)
	}
	if far == nil || far.Samples != 3 || far.Region != "eu" {
		t.Errorf("far: %+v", far)
	}
	if c.Panel.Chief != "far" || len(c.Panel.Judges) != 2 || c.Panel.MaxDepth != 3 || c.Panel.Budget != 0.5 {
		t.Errorf("panel: %+v", c.Panel)
	}
	c.Resolve("/conf", "/data")
	if far.KeyFile != "/conf/key.txt" {
		t.Errorf("key file %s", far.KeyFile)
	}
}

func TestC45_PolicyOfASite(t *testing.T) {
	t.Parallel()
	c, err := config.Decode("c.yaml", []byte(withModels))
	if err != nil {
		t.Fatal(err)
	}
	if d := c.DataOf("s1"); !d.Pseudonyms || d.Vendors[0] != "openai" || d.LocalFields[0] != "attachments" {
		t.Errorf("s1: %+v", d)
	}
	if d := c.DataOf("other"); d.Pseudonyms {
		t.Errorf("other sites: %+v", d)
	}
	if d := config.Default().DataOf("any"); !d.Pseudonyms {
		t.Error("without a configuration names must be pseudonyms")
	}
}

func TestC29_BadModelsSayWhereAndWhat(t *testing.T) {
	t.Parallel()
	const ok = "{name: a, kind: openai, model: m}"
	for in, want := range map[string]string{
		"models: [{name: a, kind: opnai, model: m}]":                                   `"opnai" is not known`,
		"models: [{name: a, kind: openai}]":                                            `a model has no "model"`,
		"models: [" + ok + ", " + ok + "]":                                             `a second model "a"`,
		"models: [{name: builtin, kind: openai, model: m}]":                            "cannot be called",
		"models: [{name: 'a,b', kind: openai, model: m}]":                              "a comma",
		"models: [{name: a, kind: openai, model: m, key_env: K, key_file: F}]":         "names both",
		"models: [{name: a, kind: openai, model: m, base_url: 'http://u:p@h/'}]":       "without user, password or query",
		"models: [{name: a, kind: openai, model: m, base_url: 'http://h/?key=x'}]":     "without user, password or query",
		"models: [{name: a, kind: openai, model: m, key: sk-1}]":                       `unknown key "key"`,
		"models: [{name: a, kind: openai, model: m, price_in: -1}]":                    "expected a number from 0",
		"models: [{name: chief, kind: openai, model: m}]":                              "names the chief's requests",
		"models: [{name: a, kind: openai, model: m, base_url: 'http://10.1.2.3/v1/'}]": "not encrypted",
		"{models: [" + ok + "], panel: {judges: [a], budget: 1}}":                      `the price of model "a" is unknown`,
		"panel: {judges: []}":                 "the list is empty",
		"panel: {judges: [ghost]}":            `no model is called "ghost"`,
		"panel: {judges: [builtin, builtin]}": "stands there twice",
		"panel: {chief: ghost}":               `no model is called "ghost"`,
		"data: {s: {local_fields: [steps]}}":  `"steps" is not known`,
	} {
		_, err := config.Decode("c.yaml", []byte(in))
		if err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "c.yaml:1:") {
			t.Errorf("%s:\n got %v\nwant c.yaml:1: … %s", in, err, want)
		}
	}
}
