"""The README's pictures of the page, taken anew in a real Chromium: python -m benchmarks.screenshots

Chromium is the one in CRAQAN_CHROMIUM, else the one that the path names. They go to docs/screenshots, with few colours,
so that they stay small.
"""

import os
import shutil
from pathlib import Path

from benchmarks.space import PORT, page

FOLDER = Path(__file__).parents[1] / "docs" / "screenshots"
COLOURS = 128
SIZE = {"width": 1280, "height": 860}
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu"]


def take(browser, name: str, dark: bool, width: int = SIZE["width"]) -> None:
    """One tab as a visitor has it before them, with something done in it."""
    context = browser.new_context(viewport={**SIZE, "width": width}, color_scheme="dark" if dark else "light")
    tab = context.new_page()
    tab.goto(f"http://127.0.0.1:{PORT}/")
    tab.locator(".open-row").wait_for()
    if name != "browse":
        tab.get_by_role("tab", name=name.capitalize().partition("-")[0]).click()
    if name.startswith("generate"):
        tab.get_by_role("button", name="Use an example text").click()
        tab.locator(".editor").wait_for()
    if name == "generate":
        tab.get_by_role("button", name="Generate a pair").click()
        tab.locator("a.download").wait_for()
    if name == "evaluate":
        tab.locator(".cutting").first.wait_for()
        tab.get_by_role("button", name="Compare over the set").click()
        tab.locator("#comparison tbody tr").first.wait_for()
    tab.wait_for_timeout(1000)  # lines are drawn, colours have faded in
    tab.screenshot(path=FOLDER / f"{name}.png")
    context.close()


def shrink(path: Path) -> None:
    """Fewer colours, losslessly packed."""
    from PIL import Image

    Image.open(path).convert("RGB").quantize(COLOURS).save(path, optimize=True)


def main() -> None:
    from playwright.sync_api import sync_playwright

    FOLDER.mkdir(parents=True, exist_ok=True)
    chromium = os.environ.get("CRAQAN_CHROMIUM") or shutil.which("chromium")
    with page(), sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        for name, dark in (("browse", False), ("generate", False), ("generate-sentences", True), ("evaluate", False)):
            take(browser, name, dark)
        browser.close()
    for path in sorted(FOLDER.glob("*.png")):
        shrink(path)
        print(f"{path.name}: {path.stat().st_size // 1024} kB")


if __name__ == "__main__":
    main()
