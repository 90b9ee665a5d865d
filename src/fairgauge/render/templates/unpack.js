// the script of the page, which is compressed to a third: the policy of the page has the digest of both
const packed = Uint8Array.from(atob(document.getElementById("packed").textContent), (c) => c.charCodeAt(0));
Promise.resolve().then(() => new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"))).text())
  .then((text) => { const script = document.createElement("script"); script.textContent = text; document.body.append(script); })
  .catch(() => { document.getElementById("old").hidden = false; });
