"""The report of the smoke run, opened from disk in headless Chromium."""

import shutil
from pathlib import Path

import pytest
from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.wait import WebDriverWait
from tests.helpers import report_crawler

from finitewidth.claims import ledger

pytestmark = [pytest.mark.workflow, pytest.mark.browser]
PROGRAMS = ("chromium", "chromedriver")
# the theme's buttons: one leaves the keys that it shows out of its name, one is pale in the dark
THEMES = [".search-button-field", "button[aria-controls=pst-nav-more-links]"]
PHONE = {"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": True}
DESK = {"width": 1280, "height": 900, "deviceScaleFactor": 1, "mobile": False}
SWITCHES = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--window-size=1400,1000",
)


@pytest.fixture(scope="module")
def browser():
    """Headless Chromium. Without it the tests are skipped with a message on how to install it."""
    found = [shutil.which(program) for program in PROGRAMS]
    if None in found:
        pytest.skip(
            "chromium and chromedriver are not on PATH, so the report is not tested in a "
            "browser; on Debian, run apt-get install chromium chromium-driver"
        )
    options = webdriver.ChromeOptions()
    options.binary_location = found[0]
    for switch in SWITCHES:
        options.add_argument(switch)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(found[1]))
    yield driver
    driver.quit()


@pytest.fixture(scope="module")
def report(smoke):
    """The folder of the report."""
    return (smoke.path / "results/smoke/report").resolve()


def pages(report):
    return sorted(report.glob("*.html"))


def opened(browser, address):
    """Open a page and wait until it is complete."""
    browser.get("about:blank")  # otherwise a new anchor would not reload the page
    browser.get(address)
    WebDriverWait(browser, 20).until(
        lambda b: b.execute_script("return document.readyState == 'complete'")
    )


def shown(browser):
    """Return the ids of the claims that the filtered table shows."""
    rows = browser.find_elements(By.CSS_SELECTOR, "#claims-table tbody tr:not([hidden])")
    return [row.find_element(By.CSS_SELECTOR, "a").text for row in rows]


def test_every_page_opens_from_disk_without_a_complaint(browser, report):
    browser.get_log("browser")
    for page in pages(report):
        opened(browser, page.as_uri())
        complaints = [e for e in browser.get_log("browser") if e["level"] == "SEVERE"]
        assert complaints == [], page.name
        asked = browser.execute_script(
            "return performance.getEntriesByType('resource').map(entry => entry.name)"
        )
        assert [name for name in asked if name.startswith("http")] == []


def test_every_picture_is_drawn(browser, report):
    for page in pages(report):
        opened(browser, page.as_uri())
        browser.execute_script("for (const i of document.images) i.loading = 'eager'")
        WebDriverWait(browser, 20).until(
            lambda b: b.execute_script("return [...document.images].every(i => i.complete)")
        )
        broken = browser.execute_script(
            "return [...document.images].filter(i => !i.naturalWidth).map(i => i.src)"
        )
        assert broken == []


def test_an_address_filters_the_claims_and_the_button_clears_the_filter(browser, report):
    page = report / "claims.html"
    opened(browser, f"{page.as_uri()}?paper=npf")
    assert shown(browser) == [claim.id for claim in ledger.claims_of("npf")]
    browser.find_element(By.XPATH, "//button[contains(., 'Clear filters')]").click()
    assert len(shown(browser)) == len(report_crawler.soup(page).select("article.fw-claim"))


def test_the_keyboard_filters_and_sorts_the_claims(browser, report):
    opened(browser, (report / "claims.html").as_uri())
    browser.find_element(By.CSS_SELECTOR, ".fw-filter select").send_keys("thesis")
    expected = [claim.id for claim in ledger.claims_of("thesis")]
    assert shown(browser) == expected
    head = browser.find_element(By.CSS_SELECTOR, "#claims-table th")
    for order, ids in (("ascending", expected), ("descending", expected[::-1])):
        head.find_element(By.TAG_NAME, "button").send_keys(Keys.ENTER)
        assert head.get_attribute("aria-sort") == order
        assert shown(browser) == ids


def test_a_word_finds_a_claim_by_its_id(browser, report):
    opened(browser, (report / "claims.html").as_uri())
    browser.find_element(By.CSS_SELECTOR, ".fw-filter input").send_keys("N14")
    assert shown(browser) == ["N14"]
    assert browser.current_url.endswith("claims.html?words=N14")
    opened(browser, browser.current_url)
    assert shown(browser) == ["N14"]


def test_a_greek_letter_is_found_by_its_name(browser, report):
    page = (report / "claims.html").as_uri()
    opened(browser, page)
    field = browser.find_element(By.CSS_SELECTOR, ".fw-filter input")
    field.send_keys("sigma_w")
    by_name = shown(browser)
    field.clear()
    field.send_keys("σ_w")
    assert by_name == shown(browser) != []


def test_a_permalink_shows_its_claim(browser, report):
    opened(browser, f"{(report / 'claims.html').as_uri()}#N14")
    top = browser.execute_script(
        "return document.querySelector(':target').getBoundingClientRect().top"
    )
    height = browser.execute_script("return innerHeight")
    assert 0 <= top < height


def test_a_link_to_settings_opens_them(browser, report):
    opened(browser, f"{(report / 'npf.html').as_uri()}#job-npf-nu")
    settings = browser.find_element(By.CSS_SELECTOR, "#job-npf-nu pre")
    assert "per_class" in settings.text


def test_a_link_to_a_folded_list_opens_it(browser, report):
    opened(browser, f"{(report / 'index.html').as_uri()}#legend")
    assert browser.find_element(By.CSS_SELECTOR, ".fw-legend").is_displayed()
    assert not browser.find_element(By.CSS_SELECTOR, ".fw-news").is_displayed()


def test_no_page_is_wider_than_a_phone(browser, report):
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", PHONE)
    try:
        for page in pages(report):
            opened(browser, page.as_uri())
            width = browser.execute_script("return document.documentElement.scrollWidth")
            assert width <= PHONE["width"], page.name
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_figures_are_as_wide_as_the_column_or_larger_than_in_print(browser, report):
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", DESK)
    try:
        for page in ("npf", "collapse"):
            opened(browser, (report / f"{page}.html").as_uri())
            pictures = browser.execute_script(
                "return [...document.querySelectorAll('.fw-shown img')].map((picture) => ["
                "picture.clientWidth, picture.closest('.fw-picture').clientWidth,"
                "parseFloat(picture.style.getPropertyValue('--fw-width'))])"
            )
            assert pictures
            for width, column, inches in pictures:
                edge = 30  # of the white paper
                assert width >= min(column - edge, 1.3 * 96 * inches)
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_print_has_the_whole_page_with_figures_and_captions(browser, report):
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    try:
        for page in ("errata", "collapse", "npf"):
            opened(browser, (report / f"{page}.html").as_uri())
            cut, hidden, closed = browser.execute_script(
                "window.dispatchEvent(new Event('beforeprint'));"
                "const article = document.querySelector('.bd-article-container');"
                "const figures = [...document.querySelectorAll('.fw-shown')];"
                "const folds = [...document.querySelectorAll('.fw-caption, .fw-claim > details')];"
                "return [getComputedStyle(article).overflowY != 'visible',"
                " figures.filter((figure) => !figure.checkVisibility()).length,"
                " folds.filter((fold) => !fold.open).length]"
            )
            assert (cut, hidden, closed) == (False, 0, 0), page
    finally:
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})


def test_a_column_of_numbers_is_sorted_as_numbers(browser, report):
    opened(browser, f"{(report / 'runs.html').as_uri()}#costs")
    table = browser.find_element(By.CSS_SELECTOR, "[aria-label^='Time and memory'] table")
    table.find_element(By.CSS_SELECTOR, "thead th:nth-child(2) button").click()
    cells = table.find_elements(By.CSS_SELECTOR, "tbody td:nth-child(2)")
    values = [float(cell.get_attribute("data-order") or 0) for cell in cells]
    assert len(values) > 20
    assert values == sorted(values)


def test_the_search_works_from_disk(browser, report):
    opened(browser, f"{(report / 'search.html').as_uri()}?q=fixed+random+gates")
    # results are written one after another
    WebDriverWait(browser, 20).until(
        lambda b: b.find_elements(By.CSS_SELECTOR, "#search-results li a[href^='npf.html']")
    )


def test_formulas_are_drawn_by_the_browser_alone(browser, report):
    opened(browser, f"{(report / 'errata.html').as_uri()}")
    high, one = browser.execute_script(
        "const fraction = document.querySelector('mfrac');"
        "return [fraction.getBoundingClientRect().height,"
        " fraction.firstElementChild.getBoundingClientRect().height]"
    )
    assert high > 1.5 * one > 0


# Of folded parts, those that repeat others element by element are left out. Elements are alike if
# tag, parent, class, role, style and the names of attributes are, and both or none have a text.
LEAVE_OUT_REPEATED_PARTS = """
    const kind = (one) => [
        one.parentElement.localName,
        one.localName,
        one.getAttribute("class"),
        one.getAttribute("role"),
        one.getAttribute("style"),
        one.getAttributeNames().sort(),
        !one.textContent.trim(),
    ].join("|");
    const whole = [...document.body.querySelectorAll("*")];
    const shown = whole.filter((one) => !one.closest("details:not([open])"));
    const seen = new Set(shown.map(kind));
    for (const box of document.querySelectorAll("details:not([open])")) {
        const kinds = [...box.querySelectorAll("*")].map(kind);
        if (kinds.every((one) => seen.has(one))) box.remove();
        kinds.forEach((one) => seen.add(one));
    }
"""
FAULTS = """
    document.querySelector("main h1").insertAdjacentHTML("afterend", `<details>
        <summary>more</summary><img src="x.png"><p style="color: #eee">pale</p>
        <button></button><a href="x"></a><span role="nonsense">a</span></details>`);
"""


def axe(browser):
    """Load axe into a page; return ids and places of what it finds."""
    axe_core_python = pytest.importorskip("axe_core_python")
    script = (Path(axe_core_python.__file__).parent / "axe.min.js").read_text(encoding="utf-8")
    browser.set_script_timeout(120)
    browser.execute_script(script)
    told = browser.execute_async_script(
        "const [unread, done] = arguments;"
        "const exclude = unread.map((one) => [one]);"
        "axe.run({exclude}, {resultTypes: ['violations']}).then(done)",
        THEMES,
    )
    return {
        violation["id"]: [node["target"] for node in violation["nodes"]][:3]
        for violation in told["violations"]
    }


@pytest.mark.parametrize("theme", ["light", pytest.param("dark", marks=pytest.mark.full)])
def test_axe_finds_no_barrier(browser, report, theme, full):
    found = []
    for page in pages(report):
        opened(browser, page.as_uri())
        browser.execute_script(
            "document.documentElement.dataset.theme = arguments[0];"
            "const folded = [...document.querySelectorAll('details')].slice(0, 12);"
            "folded.forEach((box) => { box.open = true; })",
            theme,
        )
        # axe takes minutes for thousands of cells
        if not full:
            browser.execute_script(LEAVE_OUT_REPEATED_PARTS)
        found += [(page.name, *each) for each in axe(browser).items()]
    assert found == []


def test_axe_finds_barriers_in_folded_parts(browser, report):
    opened(browser, (report / "thesis.html").as_uri())
    browser.execute_script(FAULTS)
    browser.execute_script(LEAVE_OUT_REPEATED_PARTS)
    faults = {"image-alt", "color-contrast", "button-name", "link-name", "aria-roles"}
    assert faults <= set(axe(browser))


def test_figures_stay_on_white_in_the_dark(browser, report):
    opened(browser, (report / "npf.html").as_uri())
    browser.execute_script("document.documentElement.dataset.theme = 'dark'")
    colour = "return getComputedStyle(document.querySelector(arguments[0])).backgroundColor"
    assert browser.execute_script(colour, ".fw-paperwhite") == "rgb(255, 255, 255)"
    assert browser.execute_script(colour, "body") != "rgb(255, 255, 255)"
