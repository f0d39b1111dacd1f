// The server serves dist/ under /console: a page, a script and a style, each its own file, so that the content policy
// needs no exception.
export default {
  define: { TRANSLATED: "true" },
  base: "/console/",
  build: { target: "es2022", modulePreload: false, assetsInlineLimit: 0, reportCompressedSize: false },
};
