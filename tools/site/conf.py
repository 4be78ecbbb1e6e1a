"""The configuration of Sphinx: MyST reads the pages, Furo is the theme."""

import os

project = "reseller-sim"
html_title = f"reseller-sim {os.environ['SITE_VERSION']}"
extensions = ["myst_parser"]
root_doc = "index"
exclude_patterns = ["extra"]
myst_heading_anchors = 6
# Requests and answers on the pages are often fragments, which lexers report as errors.
suppress_warnings = ["misc.highlighting_failure"]
html_theme = "furo"
html_theme_options = {
    "navigation_with_keys": True,
    "footer_icons": [],
    "light_css_variables": {"color-brand-primary": "#0b5f75", "color-brand-content": "#0b5f75"},
    "dark_css_variables": {"color-brand-primary": "#6fc7dd", "color-brand-content": "#6fc7dd"},
}
templates_path = ["theme"]
html_favicon = "../../simulator/console/web/icon.svg"
html_static_path = ["theme/site.css"]
html_css_files = ["site.css"]
html_extra_path = [os.environ["SITE_EXTRA"]]
html_sidebars = {
    "**": [
        "sidebar/brand.html",
        "sidebar/search.html",
        "versions.html",
        "sidebar/scroll-start.html",
        "sidebar/navigation.html",
        "sidebar/scroll-end.html",
    ]
}
html_context = {"site_versions": os.environ["SITE_VERSIONS"].split(), "site_version": os.environ["SITE_VERSION"]}
smartquotes = False  # what is quoted is often to be typed
html_use_index = False
html_copy_source = False
html_show_sourcelink = False
html_show_copyright = False
