// The donor's page: a page, a script and a style with plain names, which client/page puts into the program.
export default {
  define: { TRANSLATED: "false" },
  base: "/",
  build: {
    target: "es2022", modulePreload: false, assetsInlineLimit: 0, reportCompressedSize: false, outDir: "dist-donor",
    rollupOptions: { input: "donor.html", output: { entryFileNames: "page.js", assetFileNames: "page[extname]" } },
  },
};
