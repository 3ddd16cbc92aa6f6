package site_test

import (
	"testing"

	"interlock/internal/site"
)

func TestFindPerson(t *testing.T) {
	t.Parallel()
	s := &site.Site{People: []site.Person{
		{Name: "Dr. Ines Okafor", Role: "PI"},
		{Name: "Samir Pillai", Role: "chief pharmacist"},
		{Name: "Dr. Laila Haddad", Role: "data steward and HREC contact"},
		{Name: "Mei Tanaka", Role: "duty chemist (day)"},
		{Name: "Elin Marstrand", Role: "shift lead"},
		{Name: "guests and students", Role: "guest"},
		{Name: "ward nurses in charge", Role: "clinical staff"},
		{Name: "user groups (proposals MX-4471, PD-1180)", Role: "user"},
		{Name: "local contact on shift", Role: "operator"},
		{Name: "Ethics board (Dr. F. Abara)", Role: "ethics"},
		{Name: "incident commander", Role: "emergency"},
		{Name: "Jörg Müller", Role: "technician"},
		{Name: "Anna Weiss", Role: "welder"},
		{Name: "Bert Weiss", Role: "fitter"},
	}}
	for text, want := range map[string]string{
		"Dr. Ines Okafor":             "Dr. Ines Okafor",
		"ines okafor":                 "Dr. Ines Okafor",
		"Okafor":                      "Dr. Ines Okafor",
		"Okafor, Ines":                "Dr. Ines Okafor",
		"I. Okafor":                   "Dr. Ines Okafor",
		"PI Dr. Okafor":               "Dr. Ines Okafor",
		"the PI":                      "Dr. Ines Okafor",
		"S. Pillai":                   "Samir Pillai",
		"chief pharmacist":            "Samir Pillai",
		"Chief Pharmacist S. Pillai":  "Samir Pillai",
		"Dr. Laila Haddad":            "Dr. Laila Haddad",
		"data steward":                "Dr. Laila Haddad",
		"duty chemist":                "Mei Tanaka",
		"Shift lead Elin Marstrand":   "Elin Marstrand",
		"Elin Marstrand (shift lead)": "Elin Marstrand",
		"guest student T. Ashworth":   "guests and students",
		"guest student J. Oyelaran, supervised by Mei Tanaka": "guests and students",
		"guests and students":                         "guests and students",
		"ward nurses":                                 "ward nurses in charge",
		"nurse in charge 3B (typed name)":             "ward nurses in charge",
		"ward nurse in charge 2B":                     "ward nurses in charge",
		"user group MX-4471":                          "user groups (proposals MX-4471, PD-1180)",
		"user group PD-1180, contact Dr. V. Sen":      "user groups (proposals MX-4471, PD-1180)",
		"MX-4471":                                     "user groups (proposals MX-4471, PD-1180)",
		"local contact on shift":                      "local contact on shift",
		"Dr. F. Abara, ethics board, for PI M. Selig": "Ethics board (Dr. F. Abara)",
		"ethics board":                                "Ethics board (Dr. F. Abara)",
		"incident commander":                          "incident commander",
		"Jorg Muller":                                 "Jörg Müller",
		"A. Weiss":                                    "Anna Weiss",
		// nobody we know
		"":                                       "",
		"   ":                                    "",
		"T. Pillai":                              "",
		"Weiss":                                  "",
		"Okafor's assistant":                     "",
		"assistant of Dr. Okafor":                "",
		"R. Anand (pharmacist)":                  "",
		"R. Anand":                               "",
		"pharmacist":                             "",
		"safety officer J. Smith":                "",
		"contractor foreman, via Elin Marstrand": "",
		"visiting company scientist, name given as 'R. K.'": "",
		"user group MX-9999":              "",
		"laundry":                         "",
		"linen service":                   "",
		"dispatcher-ai":                   "",
		"night shift planner":             "",
		"nurse":                           "",
		"Dr.":                             "",
		"Pillai Okafor":                   "",
		"Tanaka, who has not agreed":      "",
		"Mei Tanaka (left the company)":   "",
		"Mei Tanaka (told me to skip it)": "",
		"Dr. Okafor, but he may object":   "",
		"Tanaka, He Has NOT Agreed":       "",
		"Ines":                            "",
	} {
		got := ""
		if p := s.FindPerson(text); p != nil {
			got = p.Name
		}
		if got != want {
			t.Errorf("FindPerson(%q) = %q, want %q", text, got, want)
		}
	}
}
