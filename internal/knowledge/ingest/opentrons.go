package ingest

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"interlock/internal/knowledge"
)

const otData = "shared-data/"

// microlitre and the others turn units of sources into SI.
const (
	microlitre = 1e-9 // m3
	millimetre = 1e-3 // m
)

type labwareFile struct {
	Version  int `json:"version"`
	Metadata struct {
		Name     string `json:"displayName"`
		Category string `json:"displayCategory"`
	} `json:"metadata"`
	Brand struct {
		Brand string `json:"brand"`
	} `json:"brand"`
	Parameters struct {
		LoadName string  `json:"loadName"`
		Magnetic bool    `json:"isMagneticModuleCompatible"`
		TipRack  bool    `json:"isTiprack"`
		TipLen   float64 `json:"tipLength"`
	} `json:"parameters"`
	Wells map[string]struct {
		Volume float64 `json:"totalLiquidVolume"`
		Shape  string  `json:"shape"`
		Depth  float64 `json:"depth"`
	} `json:"wells"`
	GripForce    float64                   `json:"gripForce"`
	StackLabware map[string]jsontext.Value `json:"stackingOffsetWithLabware"`
	StackModule  map[string]jsontext.Value `json:"stackingOffsetWithModule"`
	AllowedRoles []string                  `json:"allowedRoles"`
	Groups       []struct {
		Metadata struct {
			Bottom string `json:"wellBottomShape"`
		} `json:"metadata"`
	} `json:"groups"`
}

// parseOpentrons reads labware, modules, pipettes, grippers, decks, error codes
// and commands.
func parseOpentrons(c *collector, a *archive) {
	for robot, name := range map[string]string{"ot-2": "Opentrons OT-2", "flex": "Opentrons Flex"} {
		id := c.node("robot:opentrons-"+robot, knowledge.KindRobot, knowledge.Safety, name)
		c.edge(id, knowledge.RelMadeBy, c.vendor("Opentrons"))
		c.edge(id, knowledge.RelIsA, "class:liquid-handler")
	}
	c.alias("robot:opentrons-ot-2", "OT-2", false)
	c.alias("robot:opentrons-ot-2", "OT2", false)
	c.alias("robot:opentrons-flex", "OT-3", false)
	best := map[string]labwareFile{}
	c.each(a, otData+"labware/definitions/2/*/*.json", func(f file) error {
		var d labwareFile
		if err := decodeJSON(f, &d); err != nil {
			return err
		}
		name := d.Parameters.LoadName
		if name == "" {
			return fmt.Errorf("labware without parameters.loadName")
		}
		if old, ok := best[name]; !ok || d.Version > old.Version {
			best[name] = d
		}
		return nil
	})
	for _, name := range sortedKeys(best) {
		d := best[name]
		c.otLabware("labware:"+name, &d)
	}
	c.each(a, otData+"labware/definitions/1/*.json", func(f file) error {
		var d labwareFile
		if err := decodeJSON(f, &d); err != nil {
			return err
		}
		if d.Metadata.Name == "" {
			d.Metadata.Name = f.stem()
		}
		c.otLabware("labware:v1-"+f.stem(), &d)
		return nil
	})
	c.otModules(a)
	c.otPipettes(a)
	c.otDecks(a)
	c.otErrors(a)
	c.otCommands(a)
}

func (c *collector) category(name string) string {
	if name == "" {
		name = "other"
	}
	return c.node("labware-kind:"+slug(name), "labware_kind", knowledge.Safety, strings.ToLower(spaced(name)))
}

func (c *collector) otLabware(id string, d *labwareFile) {
	c.node(id, "labware", knowledge.Safety, d.Metadata.Name)
	c.edge(id, knowledge.RelIsA, c.category(d.Metadata.Category))
	c.alias(id, strings.TrimPrefix(id, "labware:"), false)
	if d.Brand.Brand != "" {
		c.edge(id, knowledge.RelMadeBy, c.vendor(d.Brand.Brand))
	}
	volume, shapes := 0.0, map[string]bool{}
	for _, w := range d.Wells {
		volume = max(volume, w.Volume)
		shapes[w.Shape] = true
	}
	c.number(id, knowledge.NumWells, "1", float64(len(d.Wells)))
	if volume > 0 {
		c.number(id, knowledge.NumVolume, "m3", roundTo(volume*microlitre, 6))
	}
	if d.GripForce > 0 {
		c.number(id, "grip_force", "N", d.GripForce)
	}
	for _, o := range sortedKeys(d.StackLabware) {
		c.edge(id, "stacks_on", "labware:"+o)
	}
	for _, o := range sortedKeys(d.StackModule) {
		c.edge(id, "stacks_on", "module:"+o)
	}
	if d.Parameters.Magnetic {
		c.edge(id, knowledge.RelFits, c.node("module-type:magneticModuleType", "module_type", knowledge.Safety, "magnetic module type"))
	}
	for _, s := range slices.Sorted(maps.Keys(shapes)) {
		if s != "" {
			c.edge(id, "has_shape", c.node("shape:"+s, "shape", knowledge.Safety, s+" well"))
		}
	}
	for _, g := range d.Groups {
		if b := g.Metadata.Bottom; b != "" {
			c.edge(id, "has_shape", c.node("shape:bottom-"+slug(b), "shape", knowledge.Safety, b+" well bottom"))
		}
	}
	for _, r := range d.AllowedRoles {
		c.edge(id, "has_role", c.node("role:labware-"+slug(r), "role", knowledge.Safety, "labware role "+r))
	}
}

func (c *collector) otModules(a *archive) {
	c.each(a, otData+"module/definitions/3/*.json", func(f file) error {
		var d struct {
			Model        string                    `json:"model"`
			Name         string                    `json:"displayName"`
			Type         string                    `json:"moduleType"`
			Compatible   []string                  `json:"compatibleWith"`
			Incompatible []string                  `json:"incompatibleWithDecks"`
			Slots        map[string]jsontext.Value `json:"slotTransforms"`
		}
		if err := decodeJSON(f, &d); err != nil {
			return err
		}
		id := c.node("module:"+d.Model, "module", knowledge.Safety, d.Name)
		c.edge(id, knowledge.RelIsA, c.moduleType(d.Type))
		c.edge(id, knowledge.RelMadeBy, c.vendor("Opentrons"))
		for _, m := range d.Compatible {
			c.edge(id, knowledge.RelFits, "module:"+m)
		}
		for _, k := range d.Incompatible {
			c.edge(id, "does_not_fit", "deck:"+k)
		}
		for _, k := range sortedKeys(d.Slots) {
			c.edge(id, "mounts_on", "deck:"+k)
		}
		return nil
	})
	c.each(a, otData+"gripper/definitions/1/*.json", func(f file) error {
		var d struct {
			Model string `json:"model"`
			Name  string `json:"displayName"`
			Force struct {
				Min *float64 `json:"min"`
				Max *float64 `json:"max"`
			} `json:"gripForceProfile"`
		}
		if err := decodeJSON(f, &d); err != nil {
			return err
		}
		id := c.node("gripper:"+d.Model, "gripper", knowledge.Safety, d.Name+" "+d.Model)
		c.edge(id, "mounts_on", "robot:opentrons-flex")
		if d.Force.Max != nil && *d.Force.Max > 0 {
			c.number(id, "grip_force", "N", *d.Force.Max)
		}
		return nil
	})
}

func (c *collector) moduleType(t string) string {
	return c.node("module-type:"+t, "module_type", knowledge.Safety, strings.TrimSpace(strings.ToLower(spaced(t))))
}

func (c *collector) otPipettes(a *archive) {
	c.each(a, otData+"pipette/definitions/2/general/*/*/*.json", func(f file) error {
		var d struct {
			Name     string   `json:"displayName"`
			Category string   `json:"displayCategory"`
			Channels float64  `json:"channels"`
			Replaces []string `json:"backCompatNames"`
			Quirks   []string `json:"quirks"`
		}
		if err := decodeJSON(f, &d); err != nil {
			return err
		}
		parts := strings.Split(f.name, "/")
		channels, model := parts[len(parts)-3], parts[len(parts)-2]
		id := c.node("pipette:"+model+"-"+channels+"-"+f.stem(), "pipette_version", knowledge.Safety, d.Name+" v"+strings.ReplaceAll(f.stem(), "_", "."))
		m := c.node("pipette:"+model+"-"+channels, "pipette", knowledge.Safety, d.Name)
		c.edge(id, knowledge.RelIsA, m)
		c.edge(m, knowledge.RelMadeBy, c.vendor("Opentrons"))
		robot := "robot:opentrons-ot-2"
		if d.Category == "FLEX" {
			robot = "robot:opentrons-flex"
		}
		c.edge(m, "mounts_on", robot)
		for _, q := range d.Quirks {
			c.edge(id, "has_quirk", c.node("quirk:"+slug(q), "quirk", knowledge.Safety, spaced(q)))
		}
		for _, r := range d.Replaces {
			c.alias(m, r, false)
		}
		c.otVolumes(a, m, "liquid/"+channels+"/"+model+"/default/"+f.base())
		return nil
	})
}

// otVolumes adds the volumes a pipette can draw.
func (c *collector) otVolumes(a *archive, id, path string) {
	for _, f := range a.files {
		if f.name != otData+"pipette/definitions/2/"+path {
			continue
		}
		var d struct {
			Min  float64                   `json:"minVolume"`
			Max  float64                   `json:"maxVolume"`
			Tips map[string]jsontext.Value `json:"supportedTips"`
		}
		if err := decodeJSON(f, &d); err != nil {
			c.fail(fmt.Errorf("%s: %w", f.name, err))
			return
		}
		if !c.b.HasNumber(id, knowledge.NumVolume) && d.Max > 0 {
			c.number(id, knowledge.NumVolume, "m3", roundTo(d.Max*microlitre, 6))
			c.number(id, knowledge.NumVolumeMin, "m3", roundTo(d.Min*microlitre, 6))
		}
		for _, t := range sortedKeys(d.Tips) {
			c.edge(id, knowledge.RelFits, c.node("tip:"+t, "tip_type", knowledge.Safety, "tip "+t))
		}
	}
}

func (c *collector) otDecks(a *archive) {
	c.each(a, otData+"deck/definitions/5/*.json", func(f file) error {
		var d struct {
			Metadata struct {
				Name string `json:"displayName"`
			} `json:"metadata"`
			Locations struct {
				Areas []struct {
					ID      string   `json:"id"`
					Name    string   `json:"displayName"`
					Type    string   `json:"areaType"`
					Modules []string `json:"compatibleModuleTypes"`
				} `json:"addressableAreas"`
				Cutouts []struct {
					ID string `json:"id"`
				} `json:"cutouts"`
			} `json:"locations"`
			Fixtures []struct {
				ID     string              `json:"id"`
				Name   string              `json:"displayName"`
				Mounts []string            `json:"mayMountTo"`
				Areas  map[string][]string `json:"providesAddressableAreas"`
			} `json:"cutoutFixtures"`
		}
		if err := decodeJSON(f, &d); err != nil {
			return err
		}
		k := f.stem()
		deck := c.node("deck:"+k, "deck", knowledge.Safety, d.Metadata.Name)
		robot := "robot:opentrons-ot-2"
		if strings.Contains(k, "ot3") {
			robot = "robot:opentrons-flex"
		}
		c.edge(deck, knowledge.RelPartOf, robot)
		for _, x := range d.Locations.Areas {
			id := c.node("area:"+k+"/"+x.ID, "deck_area", knowledge.Safety, k+" "+x.Name)
			c.edge(id, knowledge.RelPartOf, deck)
			for _, m := range x.Modules {
				c.edge(id, "accepts", c.moduleType(m))
			}
		}
		for _, x := range d.Locations.Cutouts {
			c.edge(c.node("cutout:"+k+"/"+x.ID, "deck_cutout", knowledge.Safety, k+" "+spaced(x.ID)), knowledge.RelPartOf, deck)
		}
		for _, x := range d.Fixtures {
			id := c.node("fixture:"+k+"/"+x.ID, "deck_fixture", knowledge.Safety, k+" "+x.Name)
			for _, m := range x.Mounts {
				c.edge(id, "mounts_on", "cutout:"+k+"/"+m)
			}
			for _, m := range sortedKeys(x.Areas) {
				for _, area := range x.Areas[m] {
					c.edge(id, "provides", "area:"+k+"/"+area)
				}
			}
		}
		return nil
	})
}

func (c *collector) otErrors(a *archive) {
	c.each(a, otData+"errors/definitions/1/*.json", func(f file) error {
		var d struct {
			Categories map[string]struct{ Detail string } `json:"categories"`
			Codes      map[string]struct {
				Detail   string `json:"detail"`
				Category string `json:"category"`
			} `json:"codes"`
		}
		if err := decodeJSON(f, &d); err != nil {
			return err
		}
		for _, k := range sortedKeys(d.Codes) {
			id := c.node("error:opentrons-"+k, "device_error", knowledge.PriorFailure, "Opentrons error "+k+" "+d.Codes[k].Detail)
			c.edge(id, knowledge.RelIsA, c.node("error:opentrons-"+slug(d.Codes[k].Category), "device_error_class", knowledge.PriorFailure, "Opentrons "+spaced(d.Codes[k].Category)))
			c.edge(id, "error_of", "robot:opentrons-flex")
		}
		return nil
	})
}

// otCommands reads the newest schema of commands: each is a capability.
func (c *collector) otCommands(a *archive) {
	newest, number := "", -1
	for _, f := range a.files {
		var n int
		if _, err := fmt.Sscanf(f.base(), "%d.json", &n); err == nil && match(otData+"command/schemas/*.json", f.name) && n > number {
			newest, number = f.name, n
		}
	}
	c.each(a, newest, func(f file) error {
		var d struct {
			Definitions map[string]struct {
				Properties map[string]struct {
					Enum  []string `json:"enum"`
					Const string   `json:"const"`
				} `json:"properties"`
			} `json:"definitions"`
		}
		if err := decodeJSON(f, &d); err != nil {
			return err
		}
		for _, k := range sortedKeys(d.Definitions) {
			p := d.Definitions[k].Properties["commandType"]
			name := p.Const
			if len(p.Enum) > 0 {
				name = p.Enum[0]
			}
			if name == "" || !strings.HasSuffix(k, "Create") {
				continue
			}
			id := c.capability("opentrons/"+name, "Opentrons "+spaced(name))
			if module, _, ok := strings.Cut(name, "/"); ok {
				c.edge(c.moduleType(module+"ModuleType"), knowledge.RelCapability, id)
				continue
			}
			c.edge("robot:opentrons-ot-2", knowledge.RelCapability, id)
			c.edge("robot:opentrons-flex", knowledge.RelCapability, id)
		}
		return nil
	})
}

// capability adds a command and joins it to the verbs in its name.
func (c *collector) capability(own, name string) string {
	id := c.node("cap:"+own, knowledge.KindCapability, knowledge.LabContext, name)
	c.verbs(id, own)
	return id
}
