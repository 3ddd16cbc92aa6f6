package ingest

// sources lists the archives in the order in which they are read: where two
// know the same thing, the first names it.
func sources() []source {
	var out []source
	for _, part := range [][]source{ownSources(), securitySources(), chemicalSources(), labSources(), robotSources()} {
		out = append(out, part...)
	}
	return out
}

func ownSources() []source {
	return []source{{ownKey, "Interlock's own tables", "as Interlock", parseOwn}}
}

const usGov = "US Government work"

func securitySources() []source {
	return []source{
		{"cwe", "MITRE CWE", "CWE Terms of Use", parseCWE},
		{"capec", "MITRE CAPEC", "CAPEC licence", parseCAPEC},
		{"atlas", "MITRE ATLAS", "Apache-2.0", parseATLAS},
		{"attack_ics", "MITRE ATT&CK for ICS", "ATT&CK licence", parseAttackICS},
		{"attack_ent", "MITRE ATT&CK Enterprise", "ATT&CK licence", parseAttackEnterprise},
		{"d3fend", "MITRE D3FEND", "MIT", parseD3FEND},
		{"oscal", "NIST SP 800-53 rev. 5", usGov, parseOSCAL},
		{"ctid", "CTID mappings", "Apache-2.0", parseCTID},
		{"owasp_llm", "OWASP Top 10 for LLM and agentic applications", "CC BY-SA 4.0", parseOWASPLLM},
		{"owasp_mcp", "OWASP MCP Top 10", "CC BY-SA 4.0", parseOWASPMCP},
		{"owasp_asvs", "OWASP ASVS 5.0", "CC BY-SA 4.0", parseASVS},
		{"owasp_aisvs", "OWASP AISVS 1.0", "CC BY-SA 4.0", parseAISVS},
		{"ibm_nexus", "IBM AI Atlas Nexus", "Apache-2.0", parseNexus},
		{"avid", "AI Vulnerability Database", "MIT", parseAVID},
		{"cisa_csaf", "CISA advisories on operational technology", usGov, parseCSAF},
		{"kev", "CISA Known Exploited Vulnerabilities", "CC0-1.0", parseKEV},
	}
}

func chemicalSources() []source {
	return []source{
		{"clp_annex_vi", "Annex VI to Regulation (EC) 1272/2008", "EU law, source acknowledged", parseCLP},
		{"chemicals", "chemicals (Caleb Bell and contributors): IARC, NTP, NFPA 497, IEC 60079-20-1, DIPPR, Ontario limits", "MIT", parseChemicals},
		{factsKey, "bare facts on reactive groups and pairs", "facts", parseReactive},
		{"hmt", "49 CFR 172.101", usGov, parseHazmat},
	}
}

func labSources() []source {
	return []source{
		{"obi", "Ontology for Biomedical Investigations", "CC BY 4.0", parseOBO("views/obi.obo")},
		{"chmo", "Chemical Methods Ontology", "CC BY 4.0", parseOBO("chmo.obo")},
		{"opentrons", "Opentrons shared data", "Apache-2.0", parseOpentrons},
		{"pylabrobot", "PyLabRobot", "MIT", parsePyLabRobot},
		{"sila", "SiLA 2 feature definitions", "MIT", parseSiLA},
		{"madsci", "MADSci", "MIT", parseMADSci},
		{"vda5050", "VDA 5050", "MIT", parseSchemas("json_schemas/*.schema", "VDA 5050")},
		{"rmf", "Open-RMF API messages", "Apache-2.0", parseSchemas("rmf_api_msgs/schemas/*.json", "Open-RMF")},
	}
}

func robotSources() []source {
	const bsd = "BSD-3-Clause"
	const arm, base, hand = "class:robot-arm", "class:mobile-base", "class:gripper"
	out := []source{
		{"common_interfaces", "ROS 2 common interfaces", "Apache-2.0", parseROS},
		{"rcl_interfaces", "ROS 2 rcl interfaces", "Apache-2.0", parseROS},
		{"control_msgs", "ros-controls control_msgs", bsd, parseROS},
		{"moveit_msgs", "MoveIt messages", bsd, parseROS},
		{"nav2", "Nav2 messages", "Apache-2.0", parseROS},
	}
	for _, r := range []struct{ key, title, licence, slug, maker, class string }{
		{"ur_desc", "Universal Robots ROS 2 description", bsd, "universal-robots", "Universal Robots", arm},
		{"ur_driver", "Universal Robots ROS 2 driver", bsd, "universal-robots", "Universal Robots", arm},
		{"franka_desc", "franka_description", "Apache-2.0", "franka", "Franka Robotics", arm},
		{"franka_ros2", "franka_ros2", "Apache-2.0", "franka", "Franka Robotics", arm},
		{"xarm", "xArm ROS 2", bsd, "xarm", "UFACTORY", arm},
		{"kortex", "Kinova ROS 2", bsd, "kinova", "Kinova", arm},
		{"doosan", "Doosan ROS 2", bsd, "doosan", "Doosan Robotics", arm},
		{"kuka_lbr", "KUKA LBR FRI ROS 2", "Apache-2.0", "kuka-lbr", "KUKA", arm},
		{"interbotix", "Interbotix manipulators", bsd, "interbotix", "Trossen Robotics", arm},
		{"stretch", "Stretch URDF", "Clear BSD", "stretch", "Hello Robot", "class:mobile-manipulator"},
		{"tb3", "TurtleBot3", "Apache-2.0", "turtlebot3", "ROBOTIS", base}, //nolint:misspell // the maker's name
		{"jackal", "Jackal", bsd, "jackal", "Clearpath Robotics", base},
		{"clearpath", "Clearpath common", bsd, "clearpath", "Clearpath Robotics", base},
		{"robotiq", "Robotiq ROS 2 gripper", bsd, "robotiq", "Robotiq", hand},
		{"spot_ros2", "Spot ROS 2", "MIT", "spot", "Boston Dynamics", "class:legged-robot"},
	} {
		out = append(out, source{r.key, r.title, r.licence, parseRobots(robotFamily{r.key, r.slug, r.maker, r.class, r.key == "kuka_lbr"})})
	}
	return append(out, source{"robot_desc", "robot_descriptions.py", "Apache-2.0", parseRobotDescriptions})
}
