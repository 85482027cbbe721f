// Reads all files of a table with hyparquet: `node read_tables.mjs < files.json > answer.json`, as read_tables.py does.
import { readFileSync } from 'node:fs'
import { asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects } from 'hyparquet'
import { compressors } from 'hyparquet-compressors'

const tables = JSON.parse(readFileSync(0, 'utf8'))
const answers = {}
for (const [table, paths] of Object.entries(tables)) {
  const found = {}
  let rows = 0
  for (const path of paths) {
    const file = await asyncBufferFromFile(path)
    const { schema } = await parquetMetadataAsync(file)
    const read = await parquetReadObjects({ file, compressors })
    rows += read.length
    for (const { name, type } of schema.slice(1)) {
      const isWhole = type === 'INT64' || type === 'INT32'
      found[name] ??= [0, 0, isWhole ? 0n : null]
      for (const row of read) {
        if (row[name] === null || row[name] === undefined) continue
        found[name][1] += 1
        if (isWhole) found[name][2] += BigInt(row[name])
      }
    }
  }
  for (const column of Object.values(found)) column[0] = rows
  answers[table] = found
}
// A BigInt is written with all its digits.
const text = JSON.stringify(answers, (_, value) => (typeof value === 'bigint' ? `#${value}#` : value))
process.stdout.write(text.replaceAll(/"#(-?\d+)#"/g, '$1'))
