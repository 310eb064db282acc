//! columns: stores tables by column, so that compression after it finds more.
//!
//!     FOR CONTAINER acme/logs DO SET columns, SET COMPRESSION
//!
//! Parameter: delimiter, default a comma. Lines are collected into blocks of at most 256 KiB. A block whose lines all
//! have the same number of delimiters is stored column by column; any other is stored as it is, so every object can be
//! stored, and each byte comes back. Quotes have no meaning here, and need none.
//!
//! A block: its kind (0: as it is, 1: by column), its length in 4 bytes, little-endian, and its bytes. By column, the
//! bytes are the number of columns in 2 bytes and the delimiter; then, of each column, its value of each line, ended by
//! a line feed.
#![no_std]
#![no_main]

#[link(wasm_import_module = "zoe")]
extern "C" {
    fn read(place: *mut u8, length: usize) -> usize;
    fn write(place: *const u8, length: usize);
    fn metadata(name: *const u8, name_length: usize, place: *mut u8, length: usize) -> i32;
    fn log(text: *const u8, length: usize);
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    core::arch::wasm32::unreachable()
}

const BLOCK: usize = 256 * 1024;
const HEAD: usize = 5;
const COLUMNS_MAX: usize = 1000;
const BY_COLUMN: usize = 3;

static mut INPUT: [u8; BLOCK + HEAD] = [0; BLOCK + HEAD];
static mut USED: usize = 0;
static mut OUTPUT: [u8; BLOCK + HEAD + BY_COLUMN] = [0; BLOCK + HEAD + BY_COLUMN];
static mut CURSORS: [usize; COLUMNS_MAX + 1] = [0; COLUMNS_MAX + 1];

fn refuse(text: &str) -> i32 {
    unsafe { log(text.as_ptr(), text.len()) };
    1
}

/// Return the delimiter of the parameters; a line feed for a wrong one.
fn delimiter() -> u8 {
    let mut value = [b'\n'; 8];
    match unsafe { metadata(b"delimiter".as_ptr(), 9, value.as_mut_ptr(), value.len()) } {
        -1 => b',',
        1 => value[0],
        _ => b'\n',
    }
}

#[no_mangle]
pub extern "C" fn forward(last: i32) -> i32 {
    let delimiter = delimiter();
    if delimiter == b'\n' {
        return refuse("delimiter is one character, and no line feed");
    }
    unsafe {
        let (input, output, ends) = (&mut *core::ptr::addr_of_mut!(INPUT), &mut *core::ptr::addr_of_mut!(OUTPUT), &mut *core::ptr::addr_of_mut!(CURSORS));
        loop {
            let got = read(input.as_mut_ptr().add(USED), BLOCK - USED);
            USED += got;
            if USED < BLOCK {
                break; // there is no more at present
            }
            // Whole lines, or all of it if no line ends here.
            let end = input[..BLOCK].iter().rposition(|&c| c == b'\n').map_or(BLOCK, |at| at + 1);
            store(&input[..end], output, ends, delimiter);
            input.copy_within(end..BLOCK, 0);
            USED = BLOCK - end;
        }
        if last == 1 && USED > 0 {
            let whole = input[..USED].iter().rposition(|&c| c == b'\n').map_or(0, |at| at + 1);
            if whole > 0 {
                store(&input[..whole], output, ends, delimiter);
            }
            if whole < USED {
                as_it_is(&input[whole..USED]);
            }
        }
    }
    0
}

fn head(kind: u8, length: usize) {
    let mut head = [kind, 0, 0, 0, 0];
    head[1..].copy_from_slice(&(length as u32).to_le_bytes());
    unsafe { write(head.as_ptr(), HEAD) };
}

fn as_it_is(lines: &[u8]) {
    head(0, lines.len());
    unsafe { write(lines.as_ptr(), lines.len()) };
}

/// Store lines, of which each ends with a line feed or all are but a part of one.
fn store(lines: &[u8], output: &mut [u8], places: &mut [usize], delimiter: u8) {
    let columns = columns_of(lines, delimiter);
    if columns < 2 {
        return as_it_is(lines);
    }
    // The length of each column, then where it begins.
    let places = &mut places[..columns];
    places.fill(0);
    let mut column = 0;
    for &c in lines {
        places[column] += 1; // a delimiter becomes a line feed
        column = if c == b'\n' { 0 } else { column + (c == delimiter) as usize };
    }
    let mut at = BY_COLUMN;
    for place in places.iter_mut() {
        at += core::mem::replace(place, at);
    }
    output[..2].copy_from_slice(&(columns as u16).to_le_bytes());
    output[2] = delimiter;
    column = 0;
    for &c in lines {
        let ends = c == b'\n' || c == delimiter;
        output[places[column]] = if ends { b'\n' } else { c };
        places[column] += 1;
        column = if c == b'\n' { 0 } else { column + (c == delimiter) as usize };
    }
    head(1, BY_COLUMN + lines.len());
    unsafe { write(output.as_ptr(), BY_COLUMN + lines.len()) };
}

/// Return how many columns each line has; 0 if they differ, are too many, or the last one does not end.
fn columns_of(lines: &[u8], delimiter: u8) -> usize {
    let (mut columns, mut found) = (0, 1);
    for &c in lines {
        if c == b'\n' {
            if columns != 0 && columns != found {
                return 0;
            }
            columns = found;
            found = 1;
        } else if c == delimiter {
            found += 1;
        }
    }
    if columns > COLUMNS_MAX || lines.last() != Some(&b'\n') { 0 } else { columns }
}

#[no_mangle]
pub extern "C" fn reverse(last: i32) -> i32 {
    unsafe {
        let (input, output, cursors) = (&mut *core::ptr::addr_of_mut!(OUTPUT), &mut *core::ptr::addr_of_mut!(INPUT), &mut *core::ptr::addr_of_mut!(CURSORS));
        loop {
            if USED < HEAD {
                USED += read(input.as_mut_ptr().add(USED), HEAD - USED);
            }
            if USED < HEAD {
                break;
            }
            let length = u32::from_le_bytes([input[1], input[2], input[3], input[4]]) as usize;
            if length == 0 || length > BLOCK + BY_COLUMN || input[0] > 1 {
                return refuse("this is not a block of columns");
            }
            USED += read(input.as_mut_ptr().add(USED), HEAD + length - USED);
            if USED < HEAD + length {
                break;
            }
            let block = &input[HEAD..HEAD + length];
            if input[0] == 0 {
                write(block.as_ptr(), length);
            } else if !restore(block, output, cursors) {
                return refuse("a block of columns is damaged");
            }
            USED = 0;
        }
        if last == 1 && USED > 0 {
            return refuse("the last block is not whole");
        }
    }
    0
}

/// Write the lines of a block that is stored by column; return whether it was one.
fn restore(block: &[u8], output: &mut [u8], cursors: &mut [usize]) -> bool {
    if block.len() < BY_COLUMN {
        return false;
    }
    let columns = u16::from_le_bytes([block[0], block[1]]) as usize;
    let (delimiter, values) = (block[2], &block[BY_COLUMN..]);
    if columns < 2 || columns > COLUMNS_MAX {
        return false;
    }
    let lines = values.iter().filter(|&&c| c == b'\n').count() / columns;
    let (mut column, mut seen) = (0, 0);
    cursors[0] = 0;
    for (at, &c) in values.iter().enumerate() {
        if c == b'\n' {
            seen += 1;
            if seen == lines && column + 1 < columns {
                column += 1;
                seen = 0;
                cursors[column] = at + 1;
            }
        }
    }
    let mut written = 0;
    for _ in 0..lines {
        for column in 0..columns {
            loop {
                let c = match values.get(cursors[column]) {
                    Some(&c) => c,
                    None => return false,
                };
                cursors[column] += 1;
                output[written] = if c != b'\n' { c } else if column + 1 < columns { delimiter } else { b'\n' };
                written += 1;
                if c == b'\n' {
                    break;
                }
            }
        }
    }
    unsafe { write(output.as_ptr(), written) };
    written == values.len()
}
