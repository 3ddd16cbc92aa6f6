package check

import "strings"

// Code that is written in words, or in one line of a machine's language.

// rosCall finds a ROS message or service call told in prose: "Publish a Twist on
// /cmd_vel", "std_srvs/SetBool". A path of the file system is none.
func rosCall(p *part) (kind string, start, end int) {
	const what = "a ROS message or service call"
	if strings.IndexByte(p.low, '/') < 0 {
		return "", 0, 0
	}
	for _, mark := range [...]string{"_msgs/", "_srvs/", "_interfaces/"} {
		if i := strings.Index(p.low, mark); i >= 0 {
			return what, i, i + len(mark)
		}
	}
	spoken := false
	for i := range p.toks {
		switch p.toks[i].word {
		case "publish", "publishes", "published", "publishing", "topic", "topics", "service", "ros", "parameter", "parameters":
			spoken = true
		}
	}
	if !spoken {
		return "", 0, 0
	}
	for i := 0; i < len(p.low); i++ {
		if p.low[i] != '/' || i > 0 && p.low[i-1] != ' ' && p.low[i-1] != '"' && p.low[i-1] != '\'' {
			continue
		}
		j := i + 1
		for j < len(p.low) && (asciiWord[p.low[j]] || p.low[j] == '/') {
			j++
		}
		if j > i+2 && isLetter(p.low[i+1]) && !filePath(p.low[i:j]) {
			return what, i, j
		}
		i = j
	}
	return "", 0, 0
}

// filePath reports a path that begins like one of files.
func filePath(path string) bool {
	root, _, _ := strings.Cut(path[1:], "/")
	switch root {
	case "data", "home", "scratch", "tmp", "var", "etc", "usr", "mnt", "opt", "results", "logs", "media", "srv", "net", "archive", "shared":
		return true
	}
	return false
}

// robotLine finds a motion statement of a robot's own language: RAPID, KRL.
func robotLine(line string) bool {
	word, rest, _ := strings.Cut(line, " ")
	switch strings.ToLower(word) {
	case "movej", "movel", "movec", "moveabsj":
		return strings.Contains(rest, ",")
	case "ptp", "lin", "circ", "sptp", "slin":
		return strings.Contains(rest, "{") || rest == "HOME"
	}
	return false
}

// loneImport reports a text that is an import of what code needs to act.
func loneImport(low string) bool {
	f := strings.Fields(low)
	if len(f) != 2 || f[0] != "import" {
		return false
	}
	switch strings.TrimRight(f[1], ";") {
	case "os", "sys", "subprocess", "socket", "shutil", "ctypes", "requests", "pickle":
		return true
	}
	return false
}

// localProgram finds "./x.sh", which starts a program of this folder.
func localProgram(low string) int {
	for from := 0; ; {
		i := strings.Index(low[from:], "./")
		if i < 0 {
			return -1
		}
		i += from
		if (i == 0 || low[i-1] == ' ' || low[i-1] == '\n' || low[i-1] == ';') && i+2 < len(low) && isLetter(low[i+2]) {
			return i
		}
		from = i + 2
	}
}
