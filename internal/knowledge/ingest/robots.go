package ingest

import (
	"fmt"
	"math"
	"path"
	"regexp"
	"strconv"
	"strings"

	"interlock/internal/knowledge"
)

var (
	degreesRE  = regexp.MustCompile(`!degrees\s+(-?[\d.]+)`)
	radiansRE  = regexp.MustCompile(`!radians\s+`)
	jointRE    = regexp.MustCompile(`(?s)<joint\s+name="([^"]+)"\s+type="(\w+)"[^>]*>(.*?)</joint>`)
	limitRE    = regexp.MustCompile(`<limit\b([^>]*)>`)
	attrRE     = regexp.MustCompile(`(\w+)="([^"]+)"`)
	macroRE    = regexp.MustCompile(`\$\{[^}]*\}|\$\(arg [^)]*\)`)
	urdfTailRE = regexp.MustCompile(`(?:\.urdf|\.xacro|_macro|_description|\.ros2_control|\.gazebo|_uncalibrated|_calibrated|[._-](?:blue|white|color))+`)
	eoaRE      = regexp.MustCompile(`(?:_tool_|_eoa_).*`)
	entryRE    = regexp.MustCompile(`(?s)"(\w+)": Description\((.*?)\n    \)`)
	stringRE   = regexp.MustCompile(`"([^"]+)"`)
)

// A robotFamily is what one archive describes.
type robotFamily struct {
	key, slug, maker, class string
	degrees                 bool // joint limits are given in degrees
}

func (fam robotFamily) id() string { return "family:" + fam.slug }

// parseRobots reads joint limits (YAML) and robot descriptions (URDF, xacro) of
// one family of robots, and ROS interfaces where the archive has them.
func parseRobots(fam robotFamily) func(c *collector, a *archive) {
	return func(c *collector, a *archive) {
		name := fam.maker
		if !strings.Contains(slug(name), fam.slug) {
			name += " " + spaced(fam.slug)
		}
		id := c.node(fam.id(), "robot_family", knowledge.Safety, "robots of "+name)
		c.edge(id, knowledge.RelMadeBy, c.vendor(fam.maker))
		c.edge(id, knowledge.RelIsA, fam.class)
		hasROS := false
		for _, f := range a.files {
			c.file = a.key + ": " + f.name
			switch base := f.base(); {
			case strings.Contains(base, "joint_limits") && path.Ext(base) == ".yaml":
				c.fail(c.jointLimits(fam, f))
			case path.Ext(base) == ".urdf" || path.Ext(base) == ".xacro":
				c.urdf(fam, f)
			case path.Ext(base) == ".srv" || path.Ext(base) == ".msg" || path.Ext(base) == ".action":
				hasROS = true
			}
		}
		c.file = ""
		if hasROS {
			parseROS(c, a)
		}
	}
}

func (c *collector) robot(fam robotFamily, model string) string {
	id := c.node("robot:"+slug(model), knowledge.KindRobot, knowledge.Safety, fam.maker+" "+model)
	c.edge(id, knowledge.RelIsA, fam.id())
	c.edge(id, knowledge.RelMadeBy, c.vendor(fam.maker))
	return id
}

// jointLimits reads either "joint_limits: {joint: {max_position …}}" or
// "joint: {limit: {upper …}}".
func (c *collector) jointLimits(fam robotFamily, f file) error {
	data := degreesRE.ReplaceAllFunc(f.data, func(m []byte) []byte {
		v, err := strconv.ParseFloat(string(degreesRE.FindSubmatch(m)[1]), 64)
		if err != nil {
			return m
		}
		return strconv.AppendFloat(nil, v*math.Pi/180, 'g', 8, 64)
	})
	var d map[string]any
	if err := decodeYAML(file{f.name, radiansRE.ReplaceAll(data, nil)}, &d); err != nil {
		return err
	}
	if inner, ok := d["joint_limits"].(map[string]any); ok {
		d = inner
	}
	dir := path.Base(path.Dir(f.name))
	if dir == "config" {
		dir = strings.TrimSuffix(path.Base(path.Dir(path.Dir(f.name))), "_moveit_config")
	}
	robot := ""
	for _, joint := range sortedKeys(d) {
		limits, ok := d[joint].(map[string]any)
		if !ok {
			continue
		}
		if inner, ok := limits["limit"].(map[string]any); ok {
			limits = inner
		}
		if robot == "" {
			robot = c.robot(fam, dir)
		}
		id := c.joint(robot, dir, joint)
		for name, keys := range limitKeys {
			for _, k := range keys {
				v := toFloat(limits[k])
				if fam.degrees && name != knowledge.NumEffort {
					v *= math.Pi / 180
				}
				c.jointNumber(id, name, v)
			}
		}
	}
	return nil
}

var limitKeys = map[string][]string{
	knowledge.NumLower: {"lower", "min_position"}, knowledge.NumUpper: {"upper", "max_position"},
	knowledge.NumVelocity: {"velocity", "max_velocity"}, knowledge.NumEffort: {"effort", "max_effort"},
}

func toFloat(v any) float64 {
	switch v := v.(type) {
	case float64:
		return v
	case uint64:
		return float64(v)
	case int64:
		return float64(v)
	}
	return math.NaN()
}

// jointNumber keeps finite, plausible limits. Units are those of a rotary joint
// (rad, rad/s, N m); a prismatic one has m, m/s, N under the same names.
func (c *collector) jointNumber(id, name string, v float64) {
	if math.IsNaN(v) || math.Abs(v) > 1e5 || c.b.HasNumber(id, name) {
		return
	}
	unit := map[string]string{knowledge.NumLower: "rad|m", knowledge.NumUpper: "rad|m", knowledge.NumVelocity: "rad/s|m/s", knowledge.NumEffort: "N m|N"}[name]
	c.number(id, name, unit, roundTo(v, 5))
}

func (c *collector) joint(robot, model, joint string) string {
	joint = strings.Trim(macroRE.ReplaceAllString(joint, ""), "_/ ")
	if joint == "" {
		joint = "joint"
	}
	id := c.node("joint:"+slug(model)+"/"+slug(joint), knowledge.KindJoint, knowledge.Safety, model+" "+strings.ReplaceAll(joint, "_", " "))
	c.edge(robot, knowledge.RelHasJoint, id)
	return id
}

// urdf reads joints with their type and limits. Xacro expressions are not
// evaluated: a limit that is one is left out.
func (c *collector) urdf(fam robotFamily, f file) {
	joints := jointRE.FindAllStringSubmatch(string(f.data), -1)
	model := eoaRE.ReplaceAllString(urdfTailRE.ReplaceAllString(f.base(), ""), "")
	if len(joints) == 0 || model == "" {
		return
	}
	id := "robot:" + slug(model)
	if c.b.Kind(id) != knowledge.KindRobot {
		id = c.node("model:"+fam.slug+"/"+slug(model), "robot_part", knowledge.Safety, fam.maker+" "+strings.ReplaceAll(model, "_", " "))
		c.edge(id, knowledge.RelPartOf, fam.id())
	}
	for _, j := range joints {
		if j[2] == "fixed" || j[2] == "floating" {
			continue // cannot move: no limit to break
		}
		jid := c.joint(id, fam.slug+"-"+model, j[1])
		c.edge(jid, knowledge.RelIsA, c.node("joint-type:"+j[2], "joint_type", knowledge.Safety, j[2]+" joint"))
		lim := limitRE.FindStringSubmatch(j[3])
		if lim == nil {
			continue
		}
		for _, kv := range attrRE.FindAllStringSubmatch(lim[1], -1) {
			v, err := strconv.ParseFloat(kv[2], 64)
			name := map[string]string{"lower": knowledge.NumLower, "upper": knowledge.NumUpper, "velocity": knowledge.NumVelocity, "effort": knowledge.NumEffort}[kv[1]]
			if err == nil && name != "" {
				c.jointNumber(jid, name, v)
			}
		}
	}
}

// parseRobotDescriptions reads the list of robots with maker and kind.
func parseRobotDescriptions(c *collector, a *archive) {
	c.each(a, "robot_descriptions/_descriptions.py", func(f file) error {
		entries := entryRE.FindAllStringSubmatch(string(f.data), -1)
		if len(entries) == 0 {
			return fmt.Errorf("no Description(…) entries found")
		}
		for _, e := range entries {
			field := func(k string) string {
				m := regexp.MustCompile(k + `="([^"]+)"`).FindStringSubmatch(e[2])
				if m == nil {
					return ""
				}
				return m[1]
			}
			name, maker := field("robot"), field("maker")
			if name == "" {
				name = spaced(e[1])
			}
			id := "robot:" + slug(name)
			if c.b.Kind(id) != knowledge.KindRobot {
				id = c.node("robot:"+slug(maker+" "+name), knowledge.KindRobot, knowledge.Safety, strings.TrimSpace(maker+" "+name))
			}
			if len(name) > 2 {
				c.alias(id, name, false)
			}
			c.alias(id, strings.TrimSpace(maker+" "+name), false)
			if maker != "" {
				c.edge(id, knowledge.RelMadeBy, c.vendor(maker))
			}
			c.robotTags(id, e[2])
		}
		return nil
	})
}

func (c *collector) robotTags(id, body string) {
	_, tags, ok := strings.Cut(body, "tags={")
	if !ok {
		return
	}
	tags, _, _ = strings.Cut(tags, "}")
	for _, t := range stringRE.FindAllStringSubmatch(tags, -1) {
		to := map[string]string{"arm": "class:robot-arm", "dual_arm": "class:robot-arm", "mobile_manipulator": "class:mobile-manipulator", "wheeled": "class:mobile-base", "quadruped": "class:legged-robot", "biped": "class:legged-robot", "humanoid": "class:legged-robot", "end_effector": "class:gripper"}[t[1]]
		if to == "" {
			to = c.node("robot-type:"+slug(t[1]), "robot_type", knowledge.Safety, "robot type "+spaced(t[1]))
		}
		c.edge(id, knowledge.RelIsA, to)
	}
}
