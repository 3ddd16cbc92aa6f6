package ingest

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"interlock/internal/knowledge"
)

type silaFeature struct {
	Identifier  string     `xml:"Identifier"`
	DisplayName string     `xml:"DisplayName"`
	Category    string     `xml:"Category,attr"`
	Commands    []silaPart `xml:"Command"`
	Properties  []silaPart `xml:"Property"`
	Errors      []silaPart `xml:"DefinedExecutionError"`
}

type silaPart struct {
	Identifier string   `xml:"Identifier"`
	MayRaise   []string `xml:"DefinedExecutionErrors>Identifier"`
}

// parseSiLA reads feature definitions of the laboratory standard SiLA 2.
func parseSiLA(c *collector, a *archive) {
	n := 0
	for _, f := range a.files {
		if !strings.HasSuffix(f.name, ".xml") || strings.Contains(f.name, "/test/") || strings.Contains(f.name, "/examples/") {
			continue
		}
		n++
		c.file = a.key + ": " + f.name
		c.fail(c.sila(f))
	}
	c.file = ""
	if n == 0 {
		c.fail(errors.New("sila: no feature definition in the archive"))
	}
}

func (c *collector) sila(f file) error {
	var d silaFeature
	if err := xml.NewDecoder(bytes.NewReader(f.data)).Decode(&d); err != nil {
		return fmt.Errorf("feature definition: %w", err)
	}
	if d.Identifier == "" {
		return errors.New("a feature without Identifier")
	}
	fid := strings.TrimSpace(d.Identifier)
	id := c.node("sila:"+fid, "feature", knowledge.LabContext, "SiLA "+d.DisplayName)
	if d.Category != "" {
		c.edge(id, knowledge.RelIsA, c.node("sila-category:"+slug(d.Category), "feature_category", knowledge.LabContext, "SiLA category "+d.Category))
	}
	for _, e := range d.Errors {
		c.edge(id, "may_raise", c.node("sila:"+fid+"/"+strings.TrimSpace(e.Identifier), "device_error", knowledge.PriorFailure, "SiLA "+fid+" "+e.Identifier))
	}
	for _, p := range d.Properties {
		c.edge(id, "has_property", c.node("sila:"+fid+"/"+strings.TrimSpace(p.Identifier), "device_property", knowledge.LabContext, "SiLA "+fid+" "+p.Identifier))
	}
	for _, k := range d.Commands {
		name := strings.TrimSpace(k.Identifier)
		cmd := c.node("sila:"+fid+"/"+name, knowledge.KindCapability, knowledge.LabContext, "SiLA "+fid+" "+name)
		c.verbs(cmd, name)
		c.edge(id, knowledge.RelCapability, cmd)
		for _, e := range k.MayRaise {
			c.edge(cmd, "may_raise", "sila:"+fid+"/"+strings.TrimSpace(e))
		}
	}
	return nil
}

var schemaRefRE = regexp.MustCompile(`"\$ref":\s*"(\w+)\.json`)

// parseSchemas reads messages of fleet interfaces that are given as JSON
// Schema: VDA 5050 and Open-RMF.
func parseSchemas(pattern, title string) func(c *collector, a *archive) {
	return func(c *collector, a *archive) {
		protocol := c.node(a.key+":protocol", "protocol", knowledge.LabContext, title)
		c.each(a, pattern, func(f file) error {
			var d struct {
				Title      string                    `json:"title"`
				Properties map[string]jsontext.Value `json:"properties"`
			}
			if err := decodeJSON(f, &d); err != nil {
				return err
			}
			if d.Title == "" {
				d.Title = f.stem()
			}
			id := c.node(a.key+":"+f.stem(), "fleet_message", knowledge.LabContext, title+" "+d.Title)
			c.edge(id, knowledge.RelPartOf, protocol)
			c.verbs(id, f.stem())
			for _, p := range sortedKeys(d.Properties) {
				c.edge(id, "has_field", c.node("field:"+slug(spaced(p)), "field", knowledge.LabContext, "field "+spaced(p)))
			}
			for _, r := range unique(schemaRefRE, string(f.data)) {
				c.edge(id, "refers_to", a.key+":"+schemaRefRE.FindStringSubmatch(r)[1])
			}
			return nil
		})
	}
}

// parseMADSci reads the node and workflow files of an example laboratory.
func parseMADSci(c *collector, a *archive) {
	lab := c.node("madsci:example-lab", "example_lab", knowledge.LabContext, "MADSci example laboratory")
	c.each(a, "examples/example_lab/workflows/*.yaml", func(f file) error {
		var d map[string]any
		if err := decodeYAML(f, &d); err != nil {
			return err
		}
		id := c.node("madsci:"+slug(f.stem()), "workflow", knowledge.LabContext, "workflow "+spaced(f.stem()))
		c.edge(id, knowledge.RelPartOf, lab)
		steps, _ := d["steps"].([]any)
		for _, s := range steps {
			step, _ := s.(map[string]any)
			if action := text(step["action"]); action != "" {
				c.edge(id, "runs", c.capability("madsci/"+action, "MADSci "+spaced(action)))
			}
		}
		return nil
	})
}
