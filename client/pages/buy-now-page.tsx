import { buyNow } from '../content/buy-now.ts'
import { OrderSection } from '../enquiry/order-section.tsx'
import type { Page } from './page.ts'

export const buyNowPage: Page = {
  path: '/buy-now',
  title: buyNow.title,
  ground: 'paper',
  Body: BuyNowPage,
}

function BuyNowPage({ page }: { page: Page }) {
  return (
    <section className="page-top order-page">
      <OrderSection
        path={page.path}
        head={({ title, lead }) => (
          <div className="page-title">
            <h1>{title}</h1>
            <p className="lead">{lead}</p>
          </div>
        )}
      />
    </section>
  )
}
