export interface Column<Row> {
  title: string
  cell(row: Row): string
  /** How narrow it may become where the terminal is too narrow; otherwise it keeps its width. */
  min?: number
  /** Set on columns that a narrow terminal does without: the highest number goes first. */
  spare?: number
}

const GAP = '  '

/** A table fitted to the terminal; into a file or a pipe it goes whole. Columns in which nothing stands are left out. */
export function printTable<Row>(columns: Column<Row>[], rows: Row[]): void {
  for (const line of tableLines(columns, rows, process.stdout.columns)) console.log(line)
}

export function tableLines<Row>(columns: Column<Row>[], rows: Row[], width = Number.POSITIVE_INFINITY): string[] {
  const told = columns.filter(({ cell }) => rows.length === 0 || rows.some((row) => cell(row) !== ''))
  const sized = told.map(({ title, cell, min, spare }) => {
    const cells = [title, ...rows.map((row) => onOneLine(cell(row)))]
    const size = Math.max(...cells.map(cellWidth))
    return { cells, size, min: Math.min(min ?? size, size), spare: spare ?? 0 }
  })
  const fitted = fitTo(sized, width)
  return Array.from({ length: rows.length + 1 }, (_, line) =>
    fitted
      .map(({ cells, size }) => padOrCut(cells[line] ?? '', size))
      .join(GAP)
      .trimEnd(),
  )
}

interface Sized {
  cells: string[]
  size: number
  min: number
  spare: number
}

/** Leaves out spare columns until the others fit at their narrowest, then narrows the widest as far as needed. */
function fitTo(columns: Sized[], width: number): Sized[] {
  const gaps = (columns.length - 1) * GAP.length
  const narrowest = columns.reduce((sum, { min }) => sum + min, gaps)
  const mostSpare = columns.reduce((most, column) => (column.spare > most.spare ? column : most))
  if (narrowest > width && mostSpare.spare > 0) {
    return fitTo(
      columns.filter((column) => column !== mostSpare),
      width,
    )
  }
  const fitted = columns.map((column) => ({ ...column }))
  for (let over = fitted.reduce((sum, { size }) => sum + size, gaps) - width; over > 0; over--) {
    const narrowable = fitted.filter(({ size, min }) => size > min)
    if (narrowable.length === 0) break
    narrowable.reduce((widest, column) => (column.size > widest.size ? column : widest)).size--
  }
  return fitted
}

/** Texts come from visitors and mail services: what would move the cursor or hide characters becomes a space. */
export function onOneLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]+/gu, ' ').trim()
}

/** Terminal cells of a text: marks that combine with the letter before them take none. */
function cellWidth(text: string): number {
  return [...text].filter((character) => !/[\p{Mn}\p{Me}\p{Cf}]/u.test(character)).length
}

function padOrCut(text: string, size: number): string {
  const missing = size - cellWidth(text)
  if (missing >= 0) return text + ' '.repeat(missing)
  let cut = ''
  for (const character of text) {
    if (cellWidth(cut + character) > size - 1) break
    cut += character
  }
  return `${cut}…`
}
