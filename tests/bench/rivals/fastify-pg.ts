/** The least that Fastify and node-postgres can do: one insert an order, one row, no mails, no check. */
import Fastify from 'fastify'
import pg from 'pg'

interface Order {
  submissionKey: string
  name: string
  email: string
  mobile: string
  quantity: number
  retailerSelfUse: string
  products: string
}

const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 10 })
await pool.query(
  `CREATE TABLE IF NOT EXISTS rival (key uuid PRIMARY KEY, name text, email text, mobile text, quantity bigint, buyer text, product text, at timestamptz DEFAULT now())`,
)
const app = Fastify()
app.post<{ Body: Order }>('/order', async ({ body }) => {
  await pool.query({
    name: 'insert',
    text: 'INSERT INTO rival (key, name, email, mobile, quantity, buyer, product) VALUES ($1, $2, $3, $4, $5, $6, $7)',
    values: [
      body.submissionKey,
      body.name,
      body.email,
      body.mobile,
      body.quantity,
      body.retailerSelfUse,
      body.products,
    ],
  })
  return { reference: body.submissionKey }
})
await app.listen({ port: Number(process.env.PORT), host: '127.0.0.1' })
