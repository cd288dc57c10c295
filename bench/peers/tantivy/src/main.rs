//! Tantivy behind the protocol that all engines of the comparison speak; see README.md.
//!
//!     index TOKENS INDEX
//!     serve INDEX K1 B SET=QUERIES ...
//!
//! K1 and B only say what the program was built with.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Write};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use tantivy::collector::TopDocs;
use tantivy::indexer::NoMergePolicy;
use tantivy::query::{BooleanQuery, BoostQuery, Occur, Query, TermQuery};
use tantivy::schema::{Field, IndexRecordOption, Schema, TextFieldIndexing, TextOptions};
use tantivy::tokenizer::WhitespaceTokenizer;
use tantivy::{DocAddress, Index, Score, Searcher, TantivyDocument, Term};

type Failure = Box<dyn std::error::Error + Send + Sync>;

fn main() -> Result<(), Failure> {
    let args: Vec<String> = std::env::args().collect();
    match args.get(1).map(String::as_str) {
        Some("index") if args.len() == 4 => index(&args[2], &args[3]),
        Some("serve") if args.len() > 5 => serve(&args[2], &args[5..]),
        _ => Err("usage: index TOKENS INDEX | serve INDEX K1 B SET=QUERIES ...".into()),
    }
}

fn schema() -> (Schema, Field, Field) {
    let mut builder = Schema::builder();
    let id = builder.add_text_field("id", TextOptions::default().set_fast("raw"));
    let terms = TextFieldIndexing::default()
        .set_tokenizer("whitespace")
        .set_index_option(IndexRecordOption::WithFreqs)
        .set_fieldnorms(true);
    let contents = builder.add_text_field("contents", TextOptions::default().set_indexing_options(terms));
    (builder.build(), id, contents)
}

fn register(index: &Index) {
    index.tokenizers().register("whitespace", WhitespaceTokenizer::default());
}

/// Builds an index of one segment.
fn index(tokens: &str, folder: &str) -> Result<(), Failure> {
    fs::create_dir_all(folder)?;
    let (schema, id, contents) = schema();
    let index = Index::create_in_dir(folder, schema)?;
    register(&index);
    let mut writer = index.writer_with_num_threads(2, 2_000_000_000)?;
    writer.set_merge_policy(Box::new(NoMergePolicy));
    for line in BufReader::with_capacity(1 << 20, File::open(tokens)?).lines() {
        let line = line?;
        let (docid, terms) = line.split_once('\t').ok_or("a line without a tab")?;
        let mut document = TantivyDocument::default();
        document.add_text(id, docid);
        document.add_text(contents, terms);
        writer.add_document(document)?;
    }
    writer.commit()?;
    let segments = index.searchable_segment_ids()?;
    if segments.len() > 1 {
        writer.merge(&segments).wait()?;
    }
    writer.wait_merging_threads()?;
    Ok(())
}

struct Engine {
    searcher: Searcher,
    contents: Field,
    /// The docids of all documents: looking them up in the column's dictionary takes longer than a search.
    docids: Vec<String>,
}

impl Engine {
    fn search(&self, terms: &[String], k: usize) -> Result<Vec<(Score, DocAddress)>, Failure> {
        let mut counts: Vec<(&str, u32)> = Vec::new();
        for term in terms {
            match counts.iter_mut().find(|(seen, _)| seen == term) {
                Some((_, count)) => *count += 1,
                None => counts.push((term, 1)),
            }
        }
        let clauses = counts
            .into_iter()
            .map(|(term, count)| {
                let query = TermQuery::new(Term::from_field_text(self.contents, term), IndexRecordOption::WithFreqs);
                let clause: Box<dyn Query> = match count {
                    1 => Box::new(query),
                    n => Box::new(BoostQuery::new(Box::new(query), n as Score)),
                };
                (Occur::Should, clause)
            })
            .collect();
        Ok(self.searcher.search(&BooleanQuery::new(clauses), &TopDocs::with_limit(k).order_by_score())?)
    }

    fn docids(&self, hits: &[(Score, DocAddress)]) -> Vec<String> {
        hits.iter().map(|(_, address)| self.docids[address.doc_id as usize].clone()).collect()
    }
}

fn all_docids(searcher: &Searcher) -> Result<Vec<String>, Failure> {
    let segment = searcher.segment_reader(0);
    let column = segment.fast_fields().str("id")?.ok_or("no docids")?;
    let mut docids = vec![String::new(); segment.max_doc() as usize];
    for (doc, docid) in docids.iter_mut().enumerate() {
        let ordinal = column.term_ords(doc as u32).next().ok_or("a document without docid")?;
        column.ord_to_str(ordinal, docid)?;
    }
    Ok(docids)
}

type Queries = Vec<(String, Vec<String>)>;

fn serve(folder: &str, sets: &[String]) -> Result<(), Failure> {
    let index = Index::open_in_dir(folder)?;
    register(&index);
    let contents = index.schema().get_field("contents")?;
    let searcher = index.reader()?.searcher();
    if searcher.segment_readers().len() != 1 {
        return Err(format!("{} segments, want one", searcher.segment_readers().len()).into());
    }
    let docids = all_docids(&searcher)?;
    let engine = Engine { searcher, contents, docids };
    let mut queries: HashMap<String, Queries> = HashMap::new();
    for set in sets {
        let (name, path) = set.split_once('=').ok_or("an argument is no SET=QUERIES")?;
        let mut all = Queries::new();
        for line in fs::read_to_string(path)?.lines() {
            let (id, terms) = line.split_once('\t').ok_or("a query without a tab")?;
            all.push((id.to_string(), terms.split(' ').map(str::to_string).collect()));
        }
        queries.insert(name.to_string(), all);
    }
    println!("ready");
    for line in io::stdin().lock().lines() {
        let line = line?;
        let command: Vec<&str> = line.split(' ').collect();
        let answer = answer(&engine, &queries, &command).unwrap_or_else(|e| format!("error {e}"));
        println!("{answer}");
        io::stdout().flush()?;
    }
    Ok(())
}

fn answer(engine: &Engine, sets: &HashMap<String, Queries>, command: &[&str]) -> Result<String, Failure> {
    let queries = sets.get(*command.get(1).ok_or("no query set")?).ok_or("unknown query set")?;
    let k: usize = command.get(2).ok_or("no depth")?.parse()?;
    match (command[0], command.len()) {
        ("run", 3) => times(engine, queries, k),
        ("load", 5) => load(engine, queries, k, command[3].parse()?, command[4].parse()?),
        ("hits", 4) => {
            let mut out = String::new();
            for (id, terms) in queries {
                let docids = engine.docids(&engine.search(terms, k)?);
                out += &format!("{id}\t{}\n", docids.join(" "));
            }
            fs::write(command[3], out)?;
            Ok("ok".to_string())
        }
        _ => Err("unknown command".into()),
    }
}

fn times(engine: &Engine, queries: &Queries, k: usize) -> Result<String, Failure> {
    let mut out = String::from("times");
    for (_, terms) in queries {
        let thread = thread_time();
        let start = Instant::now();
        std::hint::black_box(engine.docids(&engine.search(terms, k)?));
        let wall = start.elapsed();
        out += &format!(" {}:{}", wall.as_nanos(), (thread_time() - thread).as_nanos());
    }
    Ok(out)
}

/// The processor time of the current thread.
fn thread_time() -> Duration {
    let mut t = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the call writes to t alone.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut t) };
    Duration::new(t.tv_sec as u64, t.tv_nsec as u32)
}

fn load(engine: &Engine, queries: &Queries, k: usize, workers: usize, seconds: f64) -> Result<String, Failure> {
    let next = AtomicUsize::new(0);
    let start = Instant::now();
    let length = Duration::from_secs_f64(seconds);
    let mut all: Vec<Duration> = Vec::new();
    std::thread::scope(|scope| -> Result<(), Failure> {
        let running: Vec<_> = (0..workers)
            .map(|_| {
                scope.spawn(|| -> Result<Vec<Duration>, Failure> {
                    let mut times = Vec::new();
                    while start.elapsed() < length {
                        let (_, terms) = &queries[next.fetch_add(1, Ordering::Relaxed) % queries.len()];
                        let begin = Instant::now();
                        std::hint::black_box(engine.docids(&engine.search(terms, k)?));
                        times.push(begin.elapsed());
                    }
                    Ok(times)
                })
            })
            .collect();
        for worker in running {
            all.extend(worker.join().map_err(|_| "a worker panicked")??);
        }
        Ok(())
    })?;
    let elapsed = start.elapsed().as_secs_f64();
    all.sort();
    let p99 = all[((all.len() as f64 * 0.99).ceil() as usize).saturating_sub(1)];
    Ok(format!("load {} {}", all.len() as f64 / elapsed, p99.as_secs_f64()))
}
