/** Opens the embedded database in the folder it is given, tells what became of it, and keeps it until it is killed. */
import { joinDatabase, openDatabase } from '../../server/open-database.ts'
import { migrationsFolder } from '../../server/project-root.ts'

const [dataDir = '', as] = process.argv.slice(2)
const options = { dataDir, migrations: migrationsFolder() }
try {
  if (as === 'staff') {
    const { db, close } = await joinDatabase(options)
    await db.lease.create({ data: { name: `staff ${process.pid}`, holder: 'test', until: new Date() } })
    await close()
    console.log('done')
  } else {
    await openDatabase(options)
    globalThis.gc?.() // nobody refers to it any more
    console.log('owner')
    setInterval(() => {}, 1000)
  }
} catch (error) {
  console.log(`refused: ${(error as Error).message}`)
}
