// Runs before the first paint, so that neither colours nor language change under the reader's eyes.
(function () {
  var root = document.documentElement;
  try {
    var theme = localStorage.getItem("turnleaf.theme");
    if (theme === "light" || theme === "dark") root.dataset.theme = theme;
    var language = localStorage.getItem("turnleaf.language") || navigator.language || "en";
    root.lang = /^zh/i.test(language) ? "zh-TW" : "en";
  } catch (_) {
    // Without storage the system's colours and English hold.
  }
})();
