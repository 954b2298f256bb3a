/**
 * Functions of node:util without what it loads on request only: an import asks for all of it,
 * worker threads among it, which takes a tenth of the time in which an empty program starts.
 */
export const { isDeepStrictEqual, parseArgs, stripVTControlCharacters, styleText } =
  process.getBuiltinModule('node:util')
