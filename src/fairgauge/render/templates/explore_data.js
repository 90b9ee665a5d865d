"use strict";
const data = JSON.parse(document.getElementById("counts").textContent);
