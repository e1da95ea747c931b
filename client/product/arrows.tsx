export type Way = 'previous' | 'next'

export function Arrows({ onMove }: { onMove: (way: Way) => void }) {
  return (
    <>
      <button
        type="button"
        className="arrow"
        data-way="previous"
        aria-label="Previous slide"
        onClick={() => onMove('previous')}
      >
        <svg viewBox="0 0 24 24" aria-hidden="true">
          <path d="M20 12H4m7-7-7 7 7 7" />
        </svg>
      </button>
      <button type="button" className="arrow" data-way="next" aria-label="Next slide" onClick={() => onMove('next')}>
        <svg viewBox="0 0 24 24" aria-hidden="true">
          <path d="M4 12h16m-7-7 7 7-7 7" />
        </svg>
      </button>
    </>
  )
}
