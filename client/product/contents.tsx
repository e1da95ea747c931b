import { productSections } from '../content/product.ts'

/** Links to the sections. */
export function Contents() {
  return (
    <div className="contents">
      <nav aria-label="Sections of this page">
        <ol>
          {productSections.map(({ id, title, short }) => {
            const [before, after] = title.split(short)
            return (
              <li key={id}>
                <a href={`#${id}`}>
                  <span className="long">{before}</span>
                  {short}
                  <span className="long">{after}</span>
                </a>
              </li>
            )
          })}
        </ol>
      </nav>
    </div>
  )
}
