import { stringify } from 'csv-stringify'

/**
 * Where a program that separates cells by another character than the comma would begin one with a formula: it does not
 * respect the quotes of a text in the middle of its cell.
 */
const FORMULA_INSIDE = /([;\t\r\n|][ \u00a0\p{Cf}\p{DI}"']*)(?=[=+\-@＝＋－＠])/gu

/** For spreadsheets: with a byte order mark, so that names keep their letters, and without text that runs as a formula. */
export function createCsv(columns: string[]) {
  const cast = {
    boolean: (value: boolean) => (value ? 'yes' : 'no'),
    date: (time: Date) => time.toISOString(),
    string: (text: string) => text.replace(FORMULA_INSIDE, "$1'"),
  }
  return stringify({
    ...{ header: true, bom: true, quoted_string: true, escape_formulas: true },
    ...{ record_delimiter: 'windows', columns, cast },
  })
}
