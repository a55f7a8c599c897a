//! Count the calls of `malloc` and its kin that this thread makes, whichever library makes them.
//!
//! A library calls `malloc` through a slot of its own (its global offset table), which the dynamic linker has
//! filled with the function's address. Every slot of every loaded library that holds that address gets the
//! address of a counting function instead, which calls the original. So does the C library itself, which
//! calls `malloc` the same way, for example in `fopen`. Not seen: a library with an allocator of its own,
//! statically linked, and a function that was looked up by `dlsym`.
//!
//! This needs no second library and no environment variable, and holds for this process only: a worker, which
//! ends with its answer.
#![allow(unsafe_code)]

use libc::{Elf64_Phdr, PT_DYNAMIC, PT_GNU_RELRO, c_int, c_void, dl_phdr_info, size_t};
use std::cell::Cell;
use std::mem::transmute;
use std::sync::OnceLock;

/// What is counted.
pub const KINDS: [&str; 7] =
    ["malloc", "calloc", "realloc", "posix_memalign", "aligned_alloc", "memalign", "free"];

/// The processor tells of denormal operands.
pub const SEES_DENORMALS: bool = cfg!(target_arch = "x86_64");

/// What a call did.
pub struct Seen {
    /// Calls of each of [`KINDS`].
    pub memory: [u64; KINDS.len()],
    /// It met denormal numbers.
    pub denormals: bool,
}

thread_local! {
    // Without destructor and without lazy initialisation: reading them allocates nothing.
    static WATCHING: Cell<bool> = const { Cell::new(false) };
    static COUNTS: Cell<[u64; KINDS.len()]> = const { Cell::new([0; KINDS.len()]) };
}

/// Do something, and say what this thread did meanwhile.
pub fn watch<T>(call: impl FnOnce() -> T) -> (T, Seen) {
    COUNTS.set([0; KINDS.len()]);
    take_denormal_flag();
    WATCHING.set(true);
    let answer = call();
    WATCHING.set(false);
    (answer, Seen { memory: COUNTS.get(), denormals: take_denormal_flag() })
}

fn count(kind: usize) {
    if WATCHING.get() {
        let mut counts = COUNTS.get();
        counts[kind] += 1;
        COUNTS.set(counts);
    }
}

/// Addresses of the functions before anything was replaced.
static ORIGINALS: OnceLock<[usize; KINDS.len()]> = OnceLock::new();

fn original(kind: usize) -> usize {
    ORIGINALS.get().map_or(0, |originals| originals[kind])
}

/// A function that counts and calls the original.
macro_rules! counting {
    ($name:ident, $kind:literal, ($($argument:ident: $type:ty),*) $(-> $result:ty)?) => {
        unsafe extern "C" fn $name($($argument: $type),*) $(-> $result)? {
            count($kind);
            // SAFETY: the address of the C library's function of this type; it is called only after it was
            // stored.
            unsafe {
                let function: unsafe extern "C" fn($($type),*) $(-> $result)? = transmute(original($kind));
                function($($argument),*)
            }
        }
    };
}

counting!(malloc, 0, (size: size_t) -> *mut c_void);
counting!(calloc, 1, (number: size_t, size: size_t) -> *mut c_void);
counting!(realloc, 2, (block: *mut c_void, size: size_t) -> *mut c_void);
counting!(posix_memalign, 3, (block: *mut *mut c_void, alignment: size_t, size: size_t) -> c_int);
counting!(aligned_alloc, 4, (alignment: size_t, size: size_t) -> *mut c_void);
counting!(memalign, 5, (alignment: size_t, size: size_t) -> *mut c_void);
counting!(free, 6, (block: *mut c_void));

const COUNTING: [*const (); KINDS.len()] = [
    malloc as *const (),
    calloc as *const (),
    realloc as *const (),
    posix_memalign as *const (),
    aligned_alloc as *const (),
    memalign as *const (),
    free as *const (),
];

/// Replace the functions in every library that is loaded now. Again after others were loaded. True: it was
/// done.
pub fn interpose() -> bool {
    ORIGINALS.get_or_init(|| {
        [
            libc::malloc as *const () as usize,
            libc::calloc as *const () as usize,
            libc::realloc as *const () as usize,
            libc::posix_memalign as *const () as usize,
            libc::aligned_alloc as *const () as usize,
            libc::memalign as *const () as usize,
            libc::free as *const () as usize,
        ]
    });
    // SAFETY: the callback has the type that is asked for, and needs no data.
    unsafe { libc::dl_iterate_phdr(Some(library), std::ptr::null_mut()) };
    true
}

/// What `<elf.h>` names, of a library's dynamic section.
#[repr(C)]
struct Dynamic {
    tag: i64,
    value: u64,
}

/// A relocation: the linker wrote an address at this offset.
#[repr(C)]
struct Relocation {
    offset: u64,
    info: u64,
    addend: i64,
}

const DT_NULL: i64 = 0;
const DT_PLTRELSZ: i64 = 2;
const DT_RELA: i64 = 7;
const DT_RELASZ: i64 = 8;
const DT_JMPREL: i64 = 23;

unsafe extern "C" fn library(info: *mut dl_phdr_info, _: size_t, _: *mut c_void) -> c_int {
    // SAFETY: the linker hands over a description that is valid during this call; the headers are of a
    // library that it has loaded.
    let (base, headers) = unsafe {
        let info = &*info;
        (info.dlpi_addr as usize, std::slice::from_raw_parts(info.dlpi_phdr, info.dlpi_phnum.into()))
    };
    let header = |kind: u32| headers.iter().find(|header| header.p_type == kind);
    let Some(dynamic) = header(PT_DYNAMIC) else { return 0 };
    // SAFETY: a loaded library's dynamic section is mapped, and ends with DT_NULL.
    let tables = unsafe { tables(base, (base + dynamic.p_vaddr as usize) as *const Dynamic) };
    for (begin, bytes) in tables {
        if begin == 0 {
            continue;
        }
        // SAFETY: begin and size of a table of relocations, as the library's dynamic section says.
        let relocations = unsafe {
            std::slice::from_raw_parts(begin as *const Relocation, bytes / size_of::<Relocation>())
        };
        for relocation in relocations {
            let slot = base + relocation.offset as usize;
            if is_address(relocation.info) {
                // SAFETY: the linker wrote an address there when it loaded the library.
                unsafe { replace(slot as *mut usize, base, header(PT_GNU_RELRO)) };
            }
        }
    }
    0
}

/// The relocations that hold a function's address: R_*_GLOB_DAT, R_*_JUMP_SLOT, R_*_64.
fn is_address(info: u64) -> bool {
    let kinds: [u64; 3] = if cfg!(target_arch = "aarch64") { [1025, 1026, 257] } else { [6, 7, 1] };
    kinds.contains(&(info & 0xffff_ffff))
}

/// The two tables of relocations: where they begin and how many bytes they have.
unsafe fn tables(base: usize, mut entry: *const Dynamic) -> [(usize, usize); 2] {
    let mut tables = [(0, 0); 2];
    // SAFETY: promised by the caller.
    while let Dynamic { tag, value } = unsafe { &*entry }
        && *tag != DT_NULL
    {
        let value = *value as usize;
        // The linker has made addresses of offsets, in all libraries but the kernel's own.
        let address = if value < base { base + value } else { value };
        match *tag {
            DT_RELA => tables[0].0 = address,
            DT_RELASZ => tables[0].1 = value,
            DT_JMPREL => tables[1].0 = address,
            DT_PLTRELSZ => tables[1].1 = value,
            _ => {}
        }
        // SAFETY: not the last one.
        entry = unsafe { entry.add(1) };
    }
    tables
}

/// If the slot holds one of the functions, let it hold the counting one.
unsafe fn replace(slot: *mut usize, base: usize, protected: Option<&Elf64_Phdr>) {
    // SAFETY: promised by the caller.
    let held = unsafe { slot.read_unaligned() };
    let Some(kind) = (0..KINDS.len()).find(|&kind| original(kind) == held) else { return };
    // SAFETY: no memory is touched.
    let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) } as usize;
    let down = |address: usize| address & !(page - 1);
    let read_only = protected.is_some_and(|header| {
        let begin = base + header.p_vaddr as usize;
        (down(begin)..down(begin + header.p_memsz as usize)).contains(&(slot as usize))
    });
    let start = down(slot as usize) as *mut c_void;
    // SAFETY: the page of the slot; it is writable while it is written, then as it was. One store of a
    // pointer: another thread that calls through the slot finds the one function or the other.
    unsafe {
        if read_only && libc::mprotect(start, page, libc::PROT_READ | libc::PROT_WRITE) != 0 {
            return;
        }
        slot.write_unaligned(COUNTING[kind] as usize);
        if read_only {
            libc::mprotect(start, page, libc::PROT_READ);
        }
    }
}

/// Page faults of this thread since its start.
pub fn page_faults() -> u64 {
    // SAFETY: a struct of numbers, for which zeros are values; the kernel fills it.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_THREAD, &mut usage);
        usage
    };
    (usage.ru_minflt + usage.ru_majflt) as u64
}

/// True if the processor met a denormal operand since the last call.
#[cfg(target_arch = "x86_64")]
fn take_denormal_flag() -> bool {
    const DENORMAL: u32 = 2;
    let mut state = 0u32;
    // SAFETY: reads and writes the register's flags only; its rounding and masks stay as they are.
    unsafe {
        std::arch::asm!("stmxcsr [{}]", in(reg) &raw mut state, options(nostack));
        let seen = state & DENORMAL != 0;
        if seen {
            state &= !DENORMAL;
            std::arch::asm!("ldmxcsr [{}]", in(reg) &raw const state, options(nostack));
        }
        seen
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn take_denormal_flag() -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::hint::black_box;

    fn counted(call: impl FnOnce()) -> [u64; KINDS.len()] {
        watch(call).1.memory
    }

    /// To the call: what other threads of the tests do meanwhile does not count.
    #[test]
    fn calls_of_this_thread_are_counted_exactly() {
        assert!(interpose());
        assert_eq!(counted(|| ()), [0; 7]);
        assert_eq!(counted(|| drop(black_box(Box::new(1u64)))), [1, 0, 0, 0, 0, 0, 1]);
        assert_eq!(counted(|| drop(black_box(vec![0u8; 100]))), [0, 1, 0, 0, 0, 0, 1]);
        let grown = counted(|| {
            let mut list: Vec<u64> = black_box(Vec::with_capacity(1));
            list.extend(black_box([1, 2, 3]));
        });
        assert_eq!(grown, [1, 0, 1, 0, 0, 0, 1]);
        // Another thread's calls are its own.
        let (go, gone) = (std::sync::Barrier::new(2), std::sync::Barrier::new(2));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                go.wait();
                (0..100).for_each(|_| drop(black_box(Box::new(1u64))));
                gone.wait();
            });
            let seen = counted(|| {
                go.wait();
                gone.wait();
            });
            assert_eq!(seen, [0; 7]);
        });
    }

    /// The C library's own calls too: it calls `malloc` as everyone does.
    #[test]
    fn the_c_librarys_own_calls_are_counted() {
        interpose();
        // SAFETY: a string of ours; what it returns is freed.
        let seen = counted(|| unsafe { libc::free(black_box(libc::strdup(c"text".as_ptr())).cast()) });
        assert_eq!(seen, [1, 0, 0, 0, 0, 0, 1]);
    }

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn a_denormal_operand_is_seen() {
        let seen = |value: f64| watch(|| black_box(black_box(value) * black_box(0.5))).1.denormals;
        assert!(!seen(1.0) && !seen(0.0));
        assert!(seen(1e-310));
        assert!(!seen(1.0), "the flag is taken back");
    }

    /// Each page of a new mapping faults once.
    #[test]
    fn page_faults_are_counted() {
        let before = page_faults();
        let mut pages = vec![0u8; 64 << 20];
        pages.iter_mut().step_by(4096).for_each(|byte| *byte = 1);
        black_box(&pages);
        // Huge pages of two megabytes at best.
        assert!(page_faults() - before >= 32);
        let quiet = page_faults();
        assert!(black_box(page_faults()) - quiet <= 1);
    }
}
