export const LINE_PX = 20;

export interface Scrolled {
  scrollTop: number;
  scrollHeight: number;
  clientHeight: number;
}

/**
 * Whether somebody has scrolled up from the end. That the end is far away does not show it: lines may have come since the
 * page scrolled there by itself, but the page scrolls down only.
 */
export function leftTheEnd(topBefore: number, box: Scrolled): boolean {
  const below = box.scrollHeight - box.scrollTop - box.clientHeight;
  return box.scrollTop < topBefore && below > 10 * LINE_PX;
}
