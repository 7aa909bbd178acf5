"""The look of the Space: one theme in two lights, system fonts only, nothing fetched from elsewhere."""

from pathlib import Path
from typing import Any

import gradio as gr

HERE = Path(__file__).parent
SANS = ("system-ui", "-apple-system", "Segoe UI", "Roboto", "Helvetica Neue", "Noto Sans", "sans-serif")
MONO = ("ui-monospace", "Menlo", "Consolas", "DejaVu Sans Mono", "monospace")
BLUE = gr.themes.Color(
    name="ink_blue",
    c50="#eef4fb",
    c100="#d9e6f5",
    c200="#b6cfea",
    c300="#8ab8ea",
    c400="#5a93d1",
    c500="#2f6fb3",
    c600="#1f5a99",
    c700="#1b4c81",
    c800="#193f69",
    c900="#173556",
    c950="#0f2137",
)
SAND = gr.themes.Color(
    name="sand",
    c50="#faf8f4",
    c100="#f3f0e9",
    c200="#e4dfd4",
    c300="#c9c2b4",
    c400="#9a9488",
    c500="#6f6a61",
    c600="#565149",
    c700="#3a3f4a",
    c800="#232935",
    c900="#1a1f28",
    c950="#12151b",
)


def theme() -> gr.themes.Base:
    """Paper and ink by day, slate by night; every colour pair used for text has a contrast of at least 4.5."""
    return gr.themes.Base(
        primary_hue=BLUE,
        secondary_hue=BLUE,
        neutral_hue=SAND,
        text_size="md",
        radius_size="sm",
        font=SANS,
        font_mono=MONO,
    ).set(
        body_background_fill="*neutral_50",
        body_background_fill_dark="*neutral_950",
        body_text_color="#1d2330",
        body_text_color_dark="#e8e6e1",
        body_text_color_subdued="#565e6c",
        body_text_color_subdued_dark="#a9b0bd",
        block_background_fill="transparent",
        block_background_fill_dark="transparent",
        block_border_width="0px",
        block_border_width_dark="0px",
        block_shadow="none",
        block_label_background_fill="transparent",
        block_title_text_color="#3b4452",
        block_title_text_color_dark="#c3c9d4",
        block_title_text_weight="600",
        block_info_text_color="#565e6c",
        block_info_text_color_dark="#a9b0bd",
        input_background_fill="#ffffff",
        input_background_fill_dark="#1a1f28",
        input_border_color="#8b8577",  # 3.6 to 1 on paper: a field must be seen as one
        input_border_color_dark="#697284",
        input_border_width="1px",
        input_placeholder_color="#6b7280",
        input_placeholder_color_dark="#949cab",
        button_primary_background_fill="*primary_700",
        button_primary_background_fill_hover="*primary_600",
        button_primary_background_fill_dark="*primary_300",
        button_primary_background_fill_hover_dark="*primary_200",
        button_primary_text_color="#ffffff",
        button_primary_text_color_dark="#0f2137",
        button_secondary_background_fill="#ffffff",
        button_secondary_background_fill_dark="*neutral_900",
        button_secondary_border_color="#8b8577",
        button_secondary_border_color_dark="#697284",
        button_border_width="1px",
    )


def look() -> dict[str, Any]:
    """The arguments of `Blocks.launch` that make up the look: theme, style sheet and the drawing of coreferences."""
    # In the head, not as `css`, which gradio would write twice, once under a prefix of its own.
    styles, scripts = (
        "".join((HERE / name).read_text(encoding="utf-8") for name in names)
        for names in (("style.css", "review.css"), ("passage.js", "review.js", "generate.js"))
    )
    return {"theme": theme(), "head": f"<style>{styles}</style><script>{scripts}</script>"}


def show_on_narrow(id: str) -> str:
    """JavaScript for an event: on a screen so narrow that the columns are stacked, bring the element into view."""
    return f"""() => {{
  if (window.innerWidth >= 760) return;
  const calm = window.matchMedia('(prefers-reduced-motion: reduce)').matches;
  document.getElementById('{id}').scrollIntoView({{ behavior: calm ? 'auto' : 'smooth', block: 'start' }});
}}"""
