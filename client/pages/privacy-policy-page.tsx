import { policySections, privacyPolicy } from '../content/privacy-policy.ts'
import { Linked } from '../ui/linked.tsx'
import { Still } from '../ui/still.tsx'
import type { Page } from './page.ts'

export const privacyPolicyPage: Page = {
  path: '/privacy-policy',
  title: privacyPolicy.title,
  ground: 'paper',
  Body: PrivacyPolicyPage,
}

function PrivacyPolicyPage() {
  return (
    <Still as="article" id="policy" className="page-top policy-page">
      {import.meta.env.IN_FULL && <Policy />}
    </Still>
  )
}

function Policy() {
  return (
    <div className="wrap policy-grid">
      <div className="page-title">
        <h1>{privacyPolicy.title}</h1>
        <p className="lead">{privacyPolicy.lead}</p>
        <p className="small">{privacyPolicy.updated}</p>
      </div>
      <div className="policy-body">
        {policySections.map(({ id, title, paragraphs, bullets }, index) => (
          <section key={id} aria-labelledby={id} className="policy-section">
            <p className="section-number" aria-hidden="true">
              {index + 1}
            </p>
            <h2 id={id} className="minor">
              {title}
            </h2>
            {paragraphs.map((paragraph) => (
              <p key={paragraph}>
                <Linked>{paragraph}</Linked>
              </p>
            ))}
            {bullets && (
              <ul>
                {bullets.map((bullet) => (
                  <li key={bullet}>
                    <Linked>{bullet}</Linked>
                  </li>
                ))}
              </ul>
            )}
          </section>
        ))}
      </div>
    </div>
  )
}
