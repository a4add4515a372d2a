package org.shop.store

import scala.collection.mutable
import scala.concurrent.{ExecutionContext, Future}
import org.shop.money.{Amount => Money}

/** What can be sold. */
final case class Article(name: String, price: Double, tags: List[String] = Nil) {
  require(name.nonEmpty && price >= 0, s"cannot be sold: $name")

  def kind: Kind = price match {
    case p if p < 10 => Cheap
    case p if p < 100 => Usual
    case _ => Dear
  }
}

object Article {
  def free(name: String): Article = Article(name, 0)
  implicit val byPrice: Ordering[Article] = Ordering.by(_.price)
}

sealed trait Kind { def word: String = toString.toLowerCase }
case object Cheap extends Kind
case object Usual extends Kind { override def word = "as others" }
case object Dear extends Kind

class MissingException(name: String) extends RuntimeException(s"no such article: $name")

trait Listening {
  type Listener = Article => Unit
  private var listeners: Vector[Listener] = Vector.empty
  def listen(listener: Listener): this.type = { listeners :+= listener; this }
  protected def tell(article: Article): Unit = listeners.foreach(each => each(article))
}

abstract class Base[T](val owner: Option[String]) extends Iterable[T] {
  def describe: String = s"${owner.getOrElse("nobody")} has ${this.size}"
}

class Store(owner: Option[String] = None)(implicit context: ExecutionContext)
    extends Base[Article](owner) with Listening {
  private val articles = mutable.Map.empty[String, Article]
  private[store] lazy val log = mutable.ListBuffer[String]()
  var changes: Int = 0

  def this(name: String)(implicit context: ExecutionContext) = this(Some(name))

  def put(article: Article): Store = {
    if (articles.size >= Store.Most && !articles.contains(article.name))
      throw new IllegalStateException("the store is full")
    articles(article.name) = article
    changes += 1
    tell(article)
    this
  }

  def apply(name: String): Article = articles.getOrElse(name, throw new MissingException(name))

  def +(other: Store): Store = {
    val both = new Store()
    (this ++ other).foreach(both.put)
    both
  }

  override def iterator: Iterator[Article] = articles.values.toList.sorted.iterator

  def raise(by: Double)(wanted: Article => Boolean): Future[Int] = Future {
    var done = 0
    for (article <- this if wanted(article)) {
      put(article.copy(price = article.price * (1 + by)))
      done += 1
    }
    done
  }

  def pairs: Seq[(Article, Article)] = for {
    one <- toSeq
    other <- toSeq
    if one.price < other.price
  } yield (one, other)

  def safely[A](does: => A): Option[A] =
    try Some(does)
    catch {
      case error: MissingException =>
        log += error.getMessage
        None
      case _: IllegalStateException => None
    } finally while (log.size > 10) log.remove(0)
}

object Store {
  val Most = 1000

  implicit class Totals(val all: Iterable[Article]) extends AnyVal {
    def total: Money = Money(all.map(_.price).sum)
  }

  def grouped(store: Store): Map[Kind, List[String]] =
    store.toList.groupBy(_.kind).map { case (kind, found) => kind -> found.map(_.name) }

  def main(args: Array[String]): Unit = {
    implicit val context: ExecutionContext = ExecutionContext.global
    val store = new Store("ada").listen(article => println(article.kind.word))
    store.put(Article("tea", 4.5, List("green"))).put(Article.free("water"))
    println(store.total)
  }
}
