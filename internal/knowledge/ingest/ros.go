package ingest

import (
	"fmt"
	"path"
	"regexp"
	"strings"

	"interlock/internal/knowledge"
)

var (
	rosFieldRE = regexp.MustCompile(`^([A-Za-z][\w/]*)(?:<=\d+)?(\[[^\]]*\])?\s+(\w+)\s*(=.*|\S.*)?$`)
	rosErrorRE = regexp.MustCompile(`ERR|FAIL|FAULT|INVALID|TIMEOUT|VIOLAT|COLLISION|ABORT`)
	rosPrims   = regexp.MustCompile(`^(?:bool|byte|char|float(?:32|64)|u?int(?:8|16|32|64)|w?string|time|duration)$`)
)

// rosFamilies says which machines a package of interfaces drives.
var rosFamilies = map[string]string{
	"ur_dashboard_msgs": "family:universal-robots", "xarm_msgs": "family:xarm", "franka_msgs": "family:franka", "franka_spine_msgs": "family:franka",
	"spot_msgs": "family:spot", "dsr_msgs2": "family:doosan", "lbr_fri_idl": "family:kuka-lbr", "interbotix_xs_msgs": "family:interbotix",
	"nav2_msgs": "class:mobile-base", "moveit_msgs": "class:robot-arm", "control_msgs": "class:robot-arm",
}

// parseROS reads ROS interface definitions: messages, services and actions with
// the types of their fields and the constants that name errors.
func parseROS(c *collector, a *archive) {
	n := 0
	for _, f := range a.files {
		kind := map[string]string{".msg": "ros_message", ".srv": "ros_service", ".action": "ros_action"}[path.Ext(f.name)]
		if kind == "" {
			continue
		}
		n++
		c.file = a.key + ": " + f.name
		c.fail(c.ros(rosPackage(a.key, f.name), kind, f))
	}
	c.file = ""
	if n == 0 {
		c.fail(fmt.Errorf("%s: no .msg, .srv or .action file in the archive", a.key))
	}
}

// rosPackage is the directory above msg, srv or action.
func rosPackage(key, name string) string {
	parts := strings.Split(name, "/")
	for i := len(parts) - 2; i > 0; i-- {
		if p := parts[i]; p == "msg" || p == "srv" || p == "action" {
			return parts[i-1]
		}
	}
	return key
}

func (c *collector) ros(pkg, kind string, f file) error {
	id := c.node("ros:"+pkg+"/"+f.stem(), kind, knowledge.LabContext, pkg+"/"+f.stem())
	c.edge(id, knowledge.RelPartOf, c.node("rospkg:"+pkg, "ros_package", knowledge.LabContext, pkg))
	for i, line := range strings.Split(string(f.data), "\n") {
		line, _, _ = strings.Cut(line, "#")
		if line = strings.TrimSpace(line); line == "" || line == "---" {
			continue
		}
		m := rosFieldRE.FindStringSubmatch(line)
		if m == nil {
			return fmt.Errorf("line %d: want \"type name\"", i+1)
		}
		if strings.HasPrefix(m[4], "=") {
			if rosErrorRE.MatchString(m[3]) {
				e := c.node("error:ros/"+pkg+"/"+f.stem()+"."+m[3], "device_error", knowledge.PriorFailure, f.stem()+" "+m[3])
				c.edge(e, "error_of", id)
			}
			continue
		}
		if t := m[1]; !rosPrims.MatchString(t) {
			if !strings.Contains(t, "/") {
				t = pkg + "/" + t
			}
			c.edge(id, "has_field", "ros:"+strings.Replace(t, "/msg/", "/", 1))
		}
	}
	if kind != "ros_message" {
		c.verbs(id, f.stem())
		if fam := rosFamilies[pkg]; fam != "" {
			c.derive(fam, knowledge.RelCapability, id)
		}
	}
	return nil
}
