package ingest

import (
	"errors"
	"regexp"
	"strings"

	"interlock/internal/knowledge"
)

var (
	llmRE    = regexp.MustCompile(`\bLLM(0[1-9]|10)\b`)
	asiRE    = regexp.MustCompile(`\bASI(0[1-9]|10)\b`)
	mcpRE    = regexp.MustCompile(`^MCP(\d\d)-2025.(.*)$`)
	sectRE   = regexp.MustCompile(`(?m)^##+ C?(\d+\.\d+)\s+(.*)$`)
	reqRE    = regexp.MustCompile(`\*\*(\d+\.\d+\.\d+)\*\*`)
	numberRE = regexp.MustCompile(`\d+`)
	yearRE   = regexp.MustCompile(`\b20\d\d\b`)
	markupRE = regexp.MustCompile(`[*\[\]]|\(http\S*\)`)
)

// refs joins a document's node to the identifiers that its text cites.
func (c *collector) refs(id, text string) {
	for _, x := range unique(cweRE, text) {
		c.edge(id, knowledge.RelRelated, "cwe:"+x)
	}
	for _, x := range unique(atlasRE, text) {
		c.edge(id, "maps_to", atlasID(x))
	}
	for _, x := range unique(capecRE, text) {
		c.edge(id, "maps_to", "capec:"+x)
	}
	for _, x := range unique(cveRE, text) {
		c.edge(c.cve(x), "example_of", id)
	}
	for _, re := range []*regexp.Regexp{llmRE, asiRE} {
		for _, x := range unique(re, text) {
			c.edge(id, "maps_to", "owasp:"+x)
		}
	}
}

// parseOWASPLLM reads the Top 10 for LLM applications and for agents, and the
// table of agentic incidents.
func parseOWASPLLM(c *collector, a *archive) {
	risk := func(f file) error {
		number, name, ok := strings.Cut(f.stem(), "_")
		if !llmRE.MatchString(number) && !asiRE.MatchString(number) {
			return nil // preface and the like
		}
		if !ok {
			return errors.New("want a file name NUMBER_Title.md")
		}
		id := c.node("owasp:"+number, "owasp_risk", knowledge.Adversary, "OWASP "+number+" "+spaced(name))
		c.refs(id, string(f.data))
		return nil
	}
	c.each(a, "2_0_vulns/LLM*.md", risk)
	c.each(a, "**/agentic-top-10/*/ASI*.md", risk)
	// The mappings under initiatives/data_gathering number the risks of an older
	// edition and are left out.
	c.each(a, "**/ASI Agentic Exploits & Incidents/*.md", func(f file) error {
		for _, line := range strings.Split(string(f.data), "\n") {
			c.agenticIncident(line)
		}
		return nil
	})
}

// agenticIncident reads one row of the table: date, name, …
func (c *collector) agenticIncident(row string) {
	cells := strings.Split(row, "|")
	if len(cells) < 5 || !yearRE.MatchString(cells[1]+cells[2]) {
		return
	}
	name := strings.TrimSpace(markupRE.ReplaceAllString(cells[2], ""))
	if len(name) <= 4 || yearRE.FindString(name) == name {
		name = strings.TrimSpace(markupRE.ReplaceAllString(cells[1], ""))
	}
	c.refs(c.node("agentic:"+slug(name), knowledge.KindIncident, knowledge.PriorFailure, name), row)
}

func parseOWASPMCP(c *collector, a *archive) {
	c.each(a, "2025/MCP*.md", func(f file) error {
		m := mcpRE.FindStringSubmatch(strings.ReplaceAll(f.stem(), "–", "-"))
		if m == nil {
			return errors.New("want a file name MCPnn-2025-Title.md")
		}
		id := c.node("owasp:MCP"+m[1], "owasp_risk", knowledge.Adversary, "OWASP MCP"+m[1]+" "+spaced(m[2]))
		c.edge(id, knowledge.RelPartOf, c.node("owasp:MCP", "owasp_list", knowledge.Adversary, "OWASP MCP Top 10"))
		c.refs(id, string(f.data))
		return nil
	})
}

func parseASVS(c *collector, a *archive) {
	c.each(a, "5.0/docs_en/*.flat.json", func(f file) error {
		var d struct {
			Requirements []struct {
				Chapter     string `json:"chapter_id"`
				ChapterName string `json:"chapter_name"`
				Section     string `json:"section_id"`
				SectionName string `json:"section_name"`
				ID          string `json:"req_id"`
			} `json:"requirements"`
		}
		if err := decodeJSON(f, &d); err != nil {
			return err
		}
		for _, r := range d.Requirements {
			id := c.once("asvs:"+r.ID, "requirement", knowledge.Weakness, "ASVS 5.0 requirement "+r.ID)
			section := c.node("asvs:"+r.Section, "requirement_section", knowledge.Weakness, "ASVS "+r.SectionName)
			chapter := c.node("asvs:"+r.Chapter, "requirement_chapter", knowledge.Weakness, "ASVS "+r.ChapterName)
			c.edge(id, knowledge.RelPartOf, section)
			c.edge(section, knowledge.RelPartOf, chapter)
			c.edge(chapter, knowledge.RelPartOf, c.node("owasp:ASVS", "owasp_list", knowledge.Weakness, "OWASP ASVS 5.0"))
		}
		return nil
	})
	c.each(a, "5.0/mappings/*cwe*.json", func(f file) error {
		var d map[string]string
		if err := decodeJSON(f, &d); err != nil {
			return err
		}
		for _, k := range sortedKeys(d) {
			i := strings.LastIndexByte(k, '-')
			for _, n := range numberRE.FindAllString(d[k], -1) {
				c.edge("asvs:V"+k[i+1:], "prevents", cweID(n))
			}
		}
		return nil
	})
}

func parseAISVS(c *collector, a *archive) {
	c.each(a, "1.0/en/0x10-*.md", func(f file) error {
		number, name, ok := strings.Cut(strings.TrimPrefix(f.stem(), "0x10-"), "-")
		if !ok {
			return errors.New("want a file name 0x10-Cnn-Title.md")
		}
		chapter := c.node("aisvs:"+number, "requirement_chapter", knowledge.Adversary, "AISVS "+spaced(name))
		c.edge(chapter, knowledge.RelPartOf, c.node("owasp:AISVS", "owasp_list", knowledge.Adversary, "OWASP AISVS 1.0"))
		section := chapter
		for _, line := range strings.Split(string(f.data), "\n") {
			if m := sectRE.FindStringSubmatch(line); m != nil {
				section = c.node("aisvs:C"+m[1], "requirement_section", knowledge.Adversary, "AISVS "+strings.Trim(m[2], "*# "))
				c.edge(section, knowledge.RelPartOf, chapter)
			}
			if m := reqRE.FindStringSubmatch(line); m != nil {
				if refs := cweRE.FindString(line) + atlasRE.FindString(line); refs != "" {
					c.refs(section, line)
				}
			}
		}
		c.refs(chapter, string(f.data))
		return nil
	})
}
