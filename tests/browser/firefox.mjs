// Drops a file on a page in Firefox, as a person would, and prints what it shows: Playwright would
// want a Firefox of its own, while puppeteer speaks to the one that people have.
import puppeteer from "puppeteer-core";

const [browserPath, pageUrl, table] = process.argv.slice(2);
const browser = await puppeteer.launch({ browser: "firefox", executablePath: browserPath });
try {
  const page = await browser.newPage();
  const requests = [], complaints = [];
  page.on("request", (request) => requests.push(request.url()));
  page.on("console", (message) => complaints.push(message.text()));
  page.on("pageerror", (error) => complaints.push(String(error)));
  await page.goto(pageUrl);
  await page.waitForSelector("html[data-ready=yes]");
  await (await page.$("#file")).uploadFile(table);
  await page.waitForSelector("#questions:not([hidden])");
  await page.click("#crossed");
  await page.click("[name=favourable][value=positive]");
  await page.click("[name=rule][value=fifths]");
  await page.click("button.main");
  await page.waitForSelector("#result:not([hidden])");
  const texts = (found) => found.map((each) => each.innerText);
  console.log(JSON.stringify({
    headline: await page.$eval("#headline", (each) => each.innerText),
    verdicts: await page.$$eval(".verdicts tbody tr:not(.part) .v", texts),
    tooWide: await page.evaluate("document.documentElement.scrollWidth > innerWidth"),
    requests, complaints,
  }));
} finally {
  await browser.close();
}
