package ingest

import (
	"regexp"
	"strconv"
	"strings"

	"interlock/internal/knowledge"
)

var (
	pyFuncRE  = regexp.MustCompile(`(?m)^def ([A-Za-z]\w*)\([^)]*\)\s*->\s*"?([A-Z]\w*)"?:`)
	pyClassRE = regexp.MustCompile(`(?m)^class ([A-Z]\w*)(?:\(([^)]*)\))?:`)
	pyAsyncRE = regexp.MustCompile(`(?m)^ {2,4}async def ([a-z]\w*)\(`)
	pyBrandRE = regexp.MustCompile(`(?m)^\s*-?\s*brand:\s*([^\n]{2,40})$`)
	pyMatRE   = regexp.MustCompile(`(?m)^\s*-?\s*material:\s*([^\n]{2,40})$`)
	pyNumRE   = regexp.MustCompile(`\b(max_volume|maximal_volume|num_items_x|num_items_y)=([\d.]+)\b`)
	pyBaseRE  = regexp.MustCompile(`[A-Z]\w+`)
)

// parsePyLabRobot reads definitions of labware (functions that return a
// resource) and drivers (classes with asynchronous methods) from Python source.
// It reads lines of a known shape; it does not run or fully parse Python.
func parsePyLabRobot(c *collector, a *archive) {
	c.each(a, "pylabrobot/resources/*/*.py", c.pyResources)
	c.each(a, "pylabrobot/resources/*.py", c.pyResources)
	skip := regexp.MustCompile(`^pylabrobot/(?:resources|io|visualizer|utils|testing|gui|server|config)/|_tests?\.py$`)
	for _, f := range a.files {
		rel, ok := strings.CutPrefix(f.name, "pylabrobot/")
		if ok && strings.HasSuffix(rel, ".py") && !skip.MatchString(f.name) {
			top, _, deep := strings.Cut(rel, "/")
			if !deep {
				top = "core"
			}
			c.pyDrivers(top, string(f.data))
		}
	}
}

func (c *collector) pyResources(f file) error {
	text := string(f.data)
	at := pyFuncRE.FindAllStringSubmatchIndex(text, -1)
	parts := strings.Split(f.name, "/")
	for i, m := range at {
		end := len(text)
		if i+1 < len(at) {
			end = at[i+1][0]
		}
		name, kind, body := text[m[2]:m[3]], text[m[4]:m[5]], text[m[0]:end]
		id := c.node("plr:"+name, "labware", knowledge.Safety, strings.ReplaceAll(name, "_", " "))
		c.alias(id, name, false)
		c.edge(id, knowledge.RelIsA, c.category(kind))
		if len(parts) > 3 {
			c.edge(id, knowledge.RelMadeBy, c.vendor(spaced(parts[2])))
		}
		if b := pyBrandRE.FindStringSubmatch(body); b != nil {
			c.edge(id, knowledge.RelMadeBy, c.vendor(b[1]))
		}
		if b := pyMatRE.FindStringSubmatch(body); b != nil {
			c.edge(id, "made_of", c.node("plastic:"+slug(b[1]), "plastic", knowledge.Safety, b[1]))
		}
		c.pyNumbers(id, body)
	}
	return nil
}

func (c *collector) pyNumbers(id, body string) {
	wells := 1.0
	for _, n := range pyNumRE.FindAllStringSubmatch(body, -1) {
		v, err := strconv.ParseFloat(n[2], 64)
		switch {
		case err != nil || v <= 0:
		case strings.HasPrefix(n[1], "num_items"):
			wells *= v
		case !c.b.HasNumber(id, knowledge.NumVolume) && v < 1e6:
			c.number(id, knowledge.NumVolume, "m3", roundTo(v*microlitre, 6))
		}
	}
	if wells > 1 && wells <= 1536 {
		c.number(id, knowledge.NumWells, "1", wells)
	}
}

func (c *collector) pyDrivers(top, text string) {
	at := pyClassRE.FindAllStringSubmatchIndex(text, -1)
	for i, m := range at {
		end := len(text)
		if i+1 < len(at) {
			end = at[i+1][0]
		}
		methods := pyAsyncRE.FindAllStringSubmatch(text[m[0]:end], -1)
		if len(methods) == 0 {
			continue
		}
		name := text[m[2]:m[3]]
		id := c.node("driver:plr/"+top+"/"+name, "driver", knowledge.LabContext, "PyLabRobot "+top+" "+spaced(name))
		c.edge(id, knowledge.RelPartOf, c.node("driver:plr/"+top, "driver_package", knowledge.LabContext, "PyLabRobot "+spaced(top)))
		if m[4] >= 0 {
			for _, b := range pyBaseRE.FindAllString(text[m[4]:m[5]], -1) {
				c.edge(id, "extends", c.node("driver:plr-base/"+b, "driver_interface", knowledge.LabContext, "interface "+spaced(b)))
			}
		}
		for _, method := range methods {
			if !strings.HasPrefix(method[1], "_") {
				c.edge(id, knowledge.RelCapability, c.capability("plr/"+method[1], "PyLabRobot "+spaced(method[1])))
			}
		}
	}
}
